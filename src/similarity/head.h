// The head: a few orthogonal directions that hold most of the energy of both sides. The scan can
// try the head first and bound the rest by Cauchy-Schwarz (docs/bounds.md, "head").
#pragma once

#include <cstdint>
#include <vector>

#include "base/run.h"
#include "gcbs/array.h"
#include "similarity/operand.h"

namespace gcbs {

/// Q, stored as int16: column p of Q is row p of `basis` times `scale`. Nearly orthonormal: the
/// spectral norm of Q^T Q - I is at most `defect`.
class Head {
 public:
  Head(std::size_t depth, std::size_t stride, Array<std::int16_t> basis, double scale, double defect);

  std::size_t depth() const noexcept { return depth_; }
  double defect() const noexcept { return defect_; }

  /// out[r * depth + p] = Q_p . (scale_fine * row) for rows [begin, end); each value rounds once to
  /// float32, the integer products are exact. `pairs` and `products` are the caller's buffers.
  struct Buffers {
    std::vector<FinePair> pairs;
    std::vector<std::int64_t> products;
  };
  void project(const FineOperand& side, std::size_t begin, std::size_t end, const Kernel& kernel,
               Buffers& buffers, float* out) const;

 private:
  std::size_t depth_, stride_;
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

/// The first `depth` (a power of two) directions, mixed by a random rotation inside the head so that
/// its values are alike and quantise well.
Head make_head(const Directions& directions, std::size_t depth, const Kernel& kernel);

}  // namespace gcbs
