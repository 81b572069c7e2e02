// What the scan compares with: the bounds of docs/bounds.md, separated into a row's and a column's
// share and turned into integers.
#pragma once

#include <cstdint>

#include "similarity/operand.h"

namespace gcbs {

/// Values in (low, high] are undecided; above high is kept, at or below low is dropped.
struct Band {
  double low, high;
  bool is_point() const noexcept { return low == high; }
};

struct Limits {
  /// A product I is a candidate only if I - col_low > row_low; surely kept if I > row_high + col_high.
  Array<std::int32_t> row_low, col_low;
  Array<std::int32_t> row_high, col_high;
  /// The fine value is within row_fine + col_fine of s.
  Array<double> row_fine, col_fine;
};

Limits separate_limits(const FinePrepared& fine, const CoarsePrepared& coarse, Band band,
                       const RunContext& run);

/// The fine bound alone, for sampling.
struct FineBound {
  Array<double> row, col;
};
FineBound separate_fine(const FinePrepared& fine, const RunContext& run);

}  // namespace gcbs
