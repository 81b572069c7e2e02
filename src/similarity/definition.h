// Contract C1's number: the float64 sum, in index order, of the products of two float32 rows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "matrix/rows.h"
#include "similarity/kernels/kernel.h"

namespace gcbs {

/// s(i,j) by definition. Everything faster must decide as this does.
double similarity(const float* x, const float* y, std::size_t dim) noexcept;

/// Which rows are equal: of(i) is the lowest row with the values of row i. Worth its pass over the
/// rows only where many pairs tie.
class RowClasses {
 public:
  RowClasses(const Rows& x, const Rows& y, const RunContext& run);
  std::uint32_t of_x(std::size_t i) const noexcept { return x_[i]; }
  std::uint32_t of_y(std::size_t j) const noexcept { return y_[j]; }

 private:
  std::vector<std::uint32_t> x_, y_;
};

/// Evaluates s for many pairs; holds row buffers, so one a thread.
class Definition {
 public:
  /// With `classes` (may be null) pairs of equal rows are remembered and not summed again.
  Definition(const Rows& x, const Rows& y, const RowClasses* classes = nullptr);

  /// values[p] = s(pairs[p]). Quickest when pairs of one row stand together.
  void evaluate(std::span<const FinePair> pairs, std::span<double> values);

 private:
  const Rows* x_;
  void sum(std::span<const FinePair> pairs, std::span<double> values);

  struct Known {
    std::uint32_t x, y;
    double value;
  };
  const Rows* y_;
  const RowClasses* classes_;
  std::vector<float> x_row_, y_rows_;
  std::vector<Known> known_;  ///< direct-mapped by the pair of classes
};

}  // namespace gcbs
