// The contenders for the best columns of the rows of a block, while their similarities are only known
// to lie in intervals.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gcbs/array.h"
#include "gcbs/graph.h"

namespace gcbs {

/// A column of which s lies in [low, high]. Equal: it is s.
struct Contender {
  double low, high;
  Vertex column;

  bool is_exact() const noexcept { return low == high; }
};

/// For each row the contenders for its `wanted` best columns s in (floor, ceiling], ties to the lower
/// column. Space for a bounded number of them; columns must be added in ascending order.
class BestColumns {
 public:
  BestColumns(std::size_t rows, std::size_t wanted, double floor, MemoryMeter* meter);

  static std::size_t bytes_a_row(std::size_t wanted) noexcept;

  void clear();

  /// A column that is yet to come, and of which s <= limit, is not among the best.
  double limit(std::size_t r) const noexcept { return limits_[r]; }
  std::span<Contender> row(std::size_t r) noexcept { return {entries_.data() + r * capacity_, counts_[r]}; }

  /// True when the row is due to be thinned, which must then be done.
  bool add(std::size_t r, const Contender& contender) noexcept {
    entries_[r * capacity_ + counts_[r]++] = contender;
    return counts_[r] == marks_[r];
  }

  /// Drops what surely is not among the best and raises the limit. False where so many are left that
  /// all must be made exact and ranked before more can be added.
  [[nodiscard]] bool thin(std::size_t r, double ceiling);

  /// All contenders are exact: leaves the best ones, best first.
  void rank(std::size_t r, double ceiling);

 private:
  std::size_t wanted_, step_, capacity_;
  double floor_;
  Array<Contender> entries_;
  std::vector<std::size_t> counts_, marks_;
  std::vector<double> limits_;
  std::vector<double> lows_;  ///< scratch of thin
};

}  // namespace gcbs
