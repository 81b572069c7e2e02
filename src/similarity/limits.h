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

/// Shares of products a b, summed over all pairs: row(a) + col(b) >= a b.
struct Split {
  Split(const Array<float>& a, const Array<float>& b);
  double row(double a) const noexcept { return 0.5 * ratio * a * a * (1 + 0x1p-40); }
  double col(double b) const noexcept { return 0.5 / ratio * b * b * (1 + 0x1p-40); }
  double ratio;
};

/// Makes the limits of one part, one at a time: for rows that have a limit of their own, or a moving one.
class LimitMaker {
 public:
  LimitMaker(const FinePrepared& fine, const CoarsePart& part, double defect);

  /// Of row i where s <= t is dropped; where s > t is kept.
  std::int32_t row_low(std::size_t i, double t) const noexcept;
  std::int32_t row_high(std::size_t i, double t) const noexcept;
  std::int32_t col_low(std::size_t j) const noexcept;
  std::int32_t col_high(std::size_t j) const noexcept;

 private:
  double row_share(std::size_t i) const noexcept;
  double col_share(std::size_t j) const noexcept;
  double scaled_col_low(std::size_t j) const noexcept;

  const FinePrepared& fine_;
  const CoarsePart& part_;
  bool head_;
  double defect_, scale_;
  Split error_norm_, norm_error_, tails_, defects_;
  bool all_fit_;  ///< every col_low fits; else every pair is a candidate
};

/// All of them for one band.
Limits separate_limits(const FinePrepared& fine, const CoarsePart& part, double defect, Band band,
                       const RunContext& run);

/// The fine value is within row + col of s.
struct FineBound {
  Array<double> row, col;
};
FineBound separate_fine(const FinePrepared& fine, const RunContext& run);
FineBound separate_fine(const FineOperand& left, const FineOperand& right, double rounding,
                        const RunContext& run);

/// What the int16 products are compared with; made once a join, shared by its workers.
struct FineLimits {
  FineLimits(const FinePrepared& fine, Band band, const RunContext& run);

  /// A product p is open only if scale p + row_reach + col_reach > low, and surely kept if
  /// scale p + row_floor + col_floor > high.
  double scale, low, high;
  Array<double> row_reach, col_reach;
  Array<double> row_floor, col_floor;
};

}  // namespace gcbs
