// Separable limits.
//
// |x'.y' - scale I| <= error_x norm_y + (norm_x + error_x) error_y + tail_x tail_y. Every product
// a b is replaced by (l a^2 + b^2 / l) / 2 >= a b, with l = rms(b) / rms(a): nearly tight, because
// rows of one side are alike, and a sum of a row's and a column's share.
// Integers: limits are rounded outwards by more than rounding can move them. A limit that does not
// fit makes every pair of its row (or every pair at all) a candidate: correct, only slower.
#include "similarity/limits.h"

#include <algorithm>
#include <cmath>

namespace gcbs {
namespace {

constexpr std::int32_t kAlways = -(1 << 30);    // I - col_low > kAlways for all |I|, |col_low| <= 2^28
constexpr std::int32_t kNever = (1 << 30) - 1;  // no sum of products and limits reaches it
constexpr double kFits = 0x1p28;

double rms(const Array<float>& values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(values.size(), 1))) + 0x1p-100;
}

double at(const Array<float>& values, std::size_t i) { return static_cast<double>(values[i]); }

bool fits(double limit) { return std::abs(limit) < kFits - 4; }

std::int32_t below(double limit) { return static_cast<std::int32_t>(std::floor(limit)) - 2; }
std::int32_t above(double limit) { return static_cast<std::int32_t>(std::ceil(limit)) + 2; }

}  // namespace

Split::Split(const Array<float>& a, const Array<float>& b) : ratio(rms(b) / rms(a)) {}

LimitMaker::LimitMaker(const FinePrepared& fine, const CoarsePart& part, double defect)
    : fine_(fine),
      part_(part),
      head_(!part.x.tail.empty()),
      defect_(defect),
      scale_(part.x.scale * part.y.scale),
      error_norm_(part.x.error, part.y.norm),
      norm_error_(part.x.norm, part.y.error),
      tails_(head_ ? Split(part.x.tail, part.y.tail) : error_norm_),
      defects_(fine.x.norm, fine.y.norm),
      all_fit_(true) {
  for (std::size_t j = 0; j < fine.y.count; ++j) all_fit_ = all_fit_ && fits(scaled_col_low(j));
}

double LimitMaker::row_share(std::size_t i) const noexcept {
  const double error = at(part_.x.error, i);
  double share = error_norm_.row(error) + norm_error_.row(at(part_.x.norm, i) + error) + fine_.rounding;
  if (head_) share += tails_.row(at(part_.x.tail, i)) + defect_ * defects_.row(at(fine_.x.norm, i));
  return share;
}

double LimitMaker::col_share(std::size_t j) const noexcept {
  double share = error_norm_.col(at(part_.y.norm, j)) + norm_error_.col(at(part_.y.error, j));
  if (head_) share += tails_.col(at(part_.y.tail, j)) + defect_ * defects_.col(at(fine_.y.norm, j));
  return share;
}

double LimitMaker::scaled_col_low(std::size_t j) const noexcept {
  return (-fine_.y.offset[j] - col_share(j)) / scale_;
}

std::int32_t LimitMaker::row_low(std::size_t i, double t) const noexcept {
  const double low = (t - fine_.x.offset[i] - row_share(i)) / scale_;
  return all_fit_ && fits(low) ? below(low) : kAlways;
}

std::int32_t LimitMaker::row_high(std::size_t i, double t) const noexcept {
  const double high = (t - fine_.x.offset[i] + row_share(i)) / scale_;
  return fits(high) ? above(high) : kNever;
}

std::int32_t LimitMaker::col_low(std::size_t j) const noexcept {
  const double low = scaled_col_low(j);
  return fits(low) ? below(low) : 0;
}

std::int32_t LimitMaker::col_high(std::size_t j) const noexcept {
  const double high = (-fine_.y.offset[j] + col_share(j)) / scale_;
  return fits(high) ? above(high) : kNever;
}

FineBound separate_fine(const FineOperand& left, const FineOperand& right, double rounding,
                        const RunContext& run) {
  const Split error_norm(left.error, right.norm), norm_error(left.norm, right.error);
  FineBound bound{Array<double>(left.count, run.meter), Array<double>(right.count, run.meter)};
  for (std::size_t i = 0; i < left.count; ++i) {
    const double error = at(left.error, i), norm = at(left.norm, i) + error;
    bound.row[i] = error_norm.row(error) + norm_error.row(norm) + rounding;
  }
  for (std::size_t j = 0; j < right.count; ++j)
    bound.col[j] = error_norm.col(at(right.norm, j)) + norm_error.col(at(right.error, j));
  return bound;
}

FineBound separate_fine(const FinePrepared& fine, const RunContext& run) {
  return separate_fine(fine.x, fine.y, fine.rounding, run);
}

Limits separate_limits(const FinePrepared& fine, const CoarsePart& part, double defect, Band band,
                       const RunContext& run) {
  const std::size_t rows = fine.x.count, cols = fine.y.count;
  const std::size_t padded_rows = part.x.units * part.x.unit_rows;
  const std::size_t padded_cols = part.y.units * part.y.unit_rows;
  Limits limits;
  limits.row_low = Array<std::int32_t>(padded_rows, kNever, run.meter);
  limits.row_high = Array<std::int32_t>(padded_rows, kNever, run.meter);
  limits.col_low = Array<std::int32_t>(padded_cols, kNever, run.meter);
  limits.col_high = Array<std::int32_t>(padded_cols, kNever, run.meter);

  const LimitMaker make(fine, part, defect);
  for (std::size_t j = 0; j < cols; ++j) {
    limits.col_low[j] = make.col_low(j);
    limits.col_high[j] = make.col_high(j);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    limits.row_low[i] = make.row_low(i, band.low);
    limits.row_high[i] = make.row_high(i, band.high);
  }
  return limits;
}

FineLimits::FineLimits(const FinePrepared& fine, Band band, const RunContext& run)
    : scale(fine.x.scale * fine.y.scale),
      low(band.low),
      high(band.high),
      row_reach(fine.x.count, run.meter),
      col_reach(fine.y.count, run.meter),
      row_floor(fine.x.count, run.meter),
      col_floor(fine.y.count, run.meter) {
  const FineBound bound = separate_fine(fine, run);
  for (std::size_t i = 0; i < fine.x.count; ++i) {
    row_reach[i] = fine.x.offset[i] + bound.row[i];
    row_floor[i] = fine.x.offset[i] - bound.row[i];
  }
  for (std::size_t j = 0; j < fine.y.count; ++j) {
    col_reach[j] = fine.y.offset[j] + bound.col[j];
    col_floor[j] = fine.y.offset[j] - bound.col[j];
  }
}

}  // namespace gcbs
