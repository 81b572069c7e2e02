// The head: a few orthogonal directions that hold most of the energy of both sides. The scan can
// try the head first, in one part or two, and bound the rest by Cauchy-Schwarz (docs/bounds.md, "head").
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/run.h"
#include "gcbs/array.h"
#include "gcbs/graph.h"
#include "similarity/operand.h"

namespace gcbs {

/// Q, stored as int16: column p of Q is row p of `basis` times `scale`. Nearly orthonormal: the
/// spectral norm of Q^T Q - I is at most `defect`.
class Head {
 public:
  Head(std::size_t first, std::size_t depth, std::size_t stride, Array<std::int16_t> basis, double scale,
       double defect);

  std::size_t depth() const noexcept { return depth_; }  ///< all directions
  std::size_t first() const noexcept { return first_; }  ///< those of the first part; depth: one part
  double defect() const noexcept { return defect_; }

  struct Buffers {
    std::vector<FinePair> pairs;
    std::vector<std::int64_t> products;
  };
  /// out[r * width + p] = Q_p . (scale_fine * row) for the given rows and the first `width` directions;
  /// each value rounds once to float32, the integer products are exact.
  void project(const FineOperand& side, std::span<const Vertex> rows, std::size_t width, const Kernel& kernel,
               Buffers& buffers, float* out) const;

 private:
  std::size_t first_, depth_, stride_;
  Array<std::int16_t> basis_;
  double scale_, defect_;
};

/// Inner product in float32; `dim` is a multiple of 16.
float inner_product(const float* a, const float* b, std::size_t dim) noexcept;

/// Orthogonal directions of both sides together, most energy first; rows of `stride` values.
struct Directions {
  std::size_t count = 0, stride = 0;
  std::vector<float> values;

  const float* row(std::size_t p) const noexcept { return values.data() + p * stride; }
};

/// Subspace iteration on the second moments of a sample of rows.
Directions leading_directions(const FinePrepared& fine, std::size_t count, const Kernel& kernel,
                              const RunContext& run);

/// The first `depth` directions, `first` of them in the first part. Random rotations mix pieces of them,
/// as long as they can be, at most `piece` directions, never across parts: values that are alike quantise
/// well.
Head make_head(const Directions& directions, std::size_t first, std::size_t depth, const Kernel& kernel,
               std::size_t piece = 256);

}  // namespace gcbs
