// Contract C1's number: the float64 sum, in index order, of the products of two float32 rows.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "matrix/rows.h"
#include "similarity/operand.h"

namespace gcbs {

/// s(i,j) by definition. Everything faster must decide as this does.
double similarity(const float* x, const float* y, std::size_t dim) noexcept;

/// Which rows are equal, by first_equal_rows. Worth its pass over the rows only where many pairs tie.
class RowClasses {
 public:
  RowClasses(const Rows& x, const Rows& y, const RunContext& run);
  RowClasses(std::vector<std::uint32_t> x, std::vector<std::uint32_t> y)
      : x_(std::move(x)), y_(std::move(y)) {}
  std::uint32_t of_x(std::size_t i) const noexcept { return x_[i]; }
  std::uint32_t of_y(std::size_t j) const noexcept { return y_[j]; }

 private:
  std::vector<std::uint32_t> x_, y_;
};

/// Evaluates s for many pairs; holds row buffers, so one a thread.
class Definition {
 public:
  /// With `classes` (may be null) pairs of equal rows are remembered and not summed again. With `places`
  /// (may be null) pairs name places in these operands, not rows of the matrices; of X only, where asked.
  Definition(const Rows& x, const Rows& y, const RowClasses* classes = nullptr,
             const FinePrepared* places = nullptr, bool places_of_x_only = false);

  /// values[p] = s(pairs[p]). Quickest when pairs of one row stand together.
  void evaluate(std::span<const FinePair> pairs, std::span<double> values);

  /// A number no further than near_bound() from s, far cheaper: the rows as they are, divided once. NaN
  /// where it cannot be had: sides of different types, rows that are scaled first.
  double near(const FinePair& pair) const noexcept;
  double near_bound() const noexcept;

 private:
  struct Known {
    std::uint32_t x, y;
    double value;
  };

  void sum(std::span<const FinePair> pairs, std::span<double> values);
  Vertex row_x(Vertex i) const noexcept { return places_x_ == nullptr ? i : places_x_->first(i); }
  Vertex row_y(Vertex j) const noexcept { return places_y_ == nullptr ? j : places_y_->first(j); }

  const Rows* x_;
  const Rows* y_;
  const RowClasses* classes_;
  const PlaceRows *places_x_, *places_y_;  ///< null: rows
  std::vector<float> x_row_, y_rows_;
  std::vector<Known> known_;  ///< direct-mapped by the pair of classes
};

}  // namespace gcbs
