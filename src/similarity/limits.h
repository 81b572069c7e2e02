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

/// Of one part: a product I is a candidate only if I - col_low > row_low; surely kept if
/// I > row_high + col_high. I includes the parts before.
struct Limits {
  Array<std::int32_t> row_low, col_low;
  Array<std::int32_t> row_high, col_high;
};
Limits separate_limits(const FinePrepared& fine, const CoarsePart& part, double defect, Band band,
                       const RunContext& run);

/// The fine value is within row + col of s.
struct FineBound {
  Array<double> row, col;
};
FineBound separate_fine(const FinePrepared& fine, const RunContext& run);

/// What the int16 products are compared with; made once a join, shared by its workers.
struct FineLimits {
  FineLimits(const FinePrepared& fine, Band band, const RunContext& run);

  /// A product p is open only if scale p + row_reach + col_reach > low.
  double scale, low, high;
  Array<double> row_reach, col_reach;
  FineBound bound;
};

}  // namespace gcbs
