// Rows as contract C1 defines them.
//
//     norm  = sqrt(v_0^2 + v_1^2 + ...)      float64, summed strictly in index order
//     value = float32(float64(v) / norm)
// A row whose largest |v| is >= 2^500 or < 2^-400 (only float64 holds such) is multiplied by 2^-ilogb of
// that largest |v| first: its squares would overflow or vanish. Rows said to be normalised are
// converted to float32 and nothing else; their norms are checked on the converted values.
//
// Ensures: every value of every row was finite, no row was zero. The first bad row is the same for any
// number of threads: pieces are handed out in order, so all rows before a bad one are looked at too.
// Cost: one pass over the matrix, 8 bytes a row kept; read() is one pass over a row.
//
// The idea: a sum in a fixed order is a chain of additions, each waiting for the one before. Four rows
// are summed side by side, four chains at once, each in its own order. Bad values need no test of
// their own: a NaN or Inf makes the sum of squares NaN or Inf, and only then the row is searched.
// Likewise the largest |v| is only looked for when the sum says that it may be out of bounds: a sum in
// [2^-740, 2^1000) has its largest |v| in [2^-400, 2^500) for any row of less than 2^50 values.
//
// Rows are read again far more often than scaled rows occur, so no shift is stored: the sign of the
// norm marks a scaled row and read() finds the shift again.
#include "matrix/rows.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "gcbs/error.h"
#include "matrix/load.h"

namespace gcbs {
namespace {

constexpr std::size_t kAbreast = 4;
constexpr std::size_t kPieceBytes = 256 << 10;
constexpr double kLargestNormError = 1e-3;
constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// The value whose square counts: float32 after conversion when the rows are normalised already.
template <ValueType type, bool normalised>
double counted(const std::byte* row, std::size_t j) noexcept {
  const auto value = load<type>(row, j);
  return normalised ? static_cast<double>(static_cast<float>(value)) : static_cast<double>(value);
}

/// Sums of squares of `count` rows, each in index order.
template <ValueType type, bool normalised, std::size_t count>
void sum_squares(const MatrixView& matrix, std::size_t first, double* sums) noexcept {
  const std::byte* rows[count];
  double sum[count] = {};
  for (std::size_t r = 0; r < count; ++r) rows[r] = matrix.row(first + r);
  for (std::size_t j = 0; j < matrix.cols; ++j)
    for (std::size_t r = 0; r < count; ++r) {
      const double value = counted<type, normalised>(rows[r], j);
      sum[r] += value * value;
    }
  for (std::size_t r = 0; r < count; ++r) sums[r] = sum[r];
}

double largest_magnitude(const std::byte* row, std::size_t cols) noexcept {
  double largest = 0;
  for (std::size_t j = 0; j < cols; ++j)
    largest = std::max(largest, std::abs(load<ValueType::float64>(row, j)));
  return largest;
}

bool needs_scaling(double largest) noexcept { return largest >= 0x1p500 || largest < 0x1p-400; }

/// The norm as `norms_` keeps it, or NaN for a row that is bad: the careful way, for rare rows.
double careful_norm(const MatrixView& matrix, std::size_t i, double sum) noexcept {
  constexpr double kBad = std::numeric_limits<double>::quiet_NaN();
  if (matrix.type != ValueType::float64) return sum > 0 && std::isfinite(sum) ? std::sqrt(sum) : kBad;
  const std::byte* row = matrix.row(i);
  for (std::size_t j = 0; j < matrix.cols; ++j)
    if (!std::isfinite(load<ValueType::float64>(row, j))) return kBad;
  const double largest = largest_magnitude(row, matrix.cols);
  if (largest == 0) return kBad;
  if (!needs_scaling(largest)) return std::sqrt(sum);
  const int shift = -std::ilogb(largest);
  double scaled_sum = 0;
  for (std::size_t j = 0; j < matrix.cols; ++j) {
    const double value = std::scalbn(load<ValueType::float64>(row, j), shift);
    scaled_sum += value * value;
  }
  return -std::sqrt(scaled_sum);
}

bool surely_good(double sum) noexcept { return sum >= 0x1p-740 && sum < 0x1p1000; }  // false for NaN

bool is_unit(double sum) noexcept { return std::abs(std::sqrt(sum) - 1) <= kLargestNormError; }

/// Fills norms[begin, end) (null when normalised); the first bad row, or kNone.
template <ValueType type, bool normalised>
std::size_t check_rows(const MatrixView& matrix, std::size_t begin, std::size_t end, double* norms) noexcept {
  for (std::size_t i = begin; i < end;) {
    const std::size_t count = end - i < kAbreast ? 1 : kAbreast;
    double sums[kAbreast];
    if (count == kAbreast)
      sum_squares<type, normalised, kAbreast>(matrix, i, sums);
    else
      sum_squares<type, normalised, 1>(matrix, i, sums);
    for (std::size_t r = 0; r < count; ++r, ++i) {
      if constexpr (normalised) {
        if (!is_unit(sums[r])) return i;
      } else {
        norms[i] = surely_good(sums[r]) ? std::sqrt(sums[r]) : careful_norm(matrix, i, sums[r]);
        if (std::isnan(norms[i])) return i;
      }
    }
  }
  return kNone;
}

/// Six digits, the same in every locale.
std::string number_text(double value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr;
  return {text, end};
}

/// Says what is wrong with a row that check_rows found bad.
template <ValueType type>
[[noreturn]] void refuse_row(const MatrixView& matrix, std::size_t i, bool normalised) {
  const std::string row = "row " + std::to_string(i) + " of " + matrix.name;
  constexpr const char* kRepair = "drop the row or repair what computed it";
  double sum = 0;
  for (std::size_t j = 0; j < matrix.cols; ++j) {
    const auto value = load<type>(matrix.row(i), j);
    const double single = static_cast<float>(value);
    sum += single * single;
    if (std::isfinite(normalised ? single : value)) continue;
    const std::string column = " in column " + std::to_string(j);
    if (std::isfinite(value))
      throw Error(ErrorKind::input, row + " holds " + number_text(value) + column,
                  "it does not fit float32, which normalised rows are read as", "leave out --normalised");
    throw Error(ErrorKind::input, row + " holds " + (std::isnan(value) ? "NaN" : "Inf") + column,
                "it has no similarity to anything (rows and columns count from 0)", kRepair);
  }
  if (normalised)
    throw Error(ErrorKind::input, row + " has norm " + number_text(std::sqrt(sum)),
                "rows said to be normalised must have norm 1 within 0.001 (rows count from 0)",
                "leave out --normalised, or divide each row by its norm");
  throw Error(ErrorKind::input, row + " is zero",
              "it has no direction and so no similarity (rows count from 0)", kRepair);
}

void require_values(const MatrixView& matrix) {
  if (matrix.rows == 0 || matrix.cols == 0)
    throw Error(ErrorKind::input, matrix.name + " has no values",
                "its shape is " + std::to_string(matrix.rows) + " x " + std::to_string(matrix.cols),
                "give at least one row and one column");
}

template <ValueType type>
void read_divided(const std::byte* row, std::size_t cols, double norm, float* __restrict out) noexcept {
  for (std::size_t j = 0; j < cols; ++j)
    out[j] = static_cast<float>(static_cast<double>(load<type>(row, j)) / norm);
}

void read_scaled(const std::byte* row, std::size_t cols, double norm, float* out) noexcept {
  const int shift = -std::ilogb(largest_magnitude(row, cols));
  for (std::size_t j = 0; j < cols; ++j)
    out[j] = static_cast<float>(std::scalbn(load<ValueType::float64>(row, j), shift) / norm);
}

template <ValueType type>
void read_converted(const std::byte* row, std::size_t cols, float* __restrict out) noexcept {
  for (std::size_t j = 0; j < cols; ++j) out[j] = static_cast<float>(load<type>(row, j));
}

}  // namespace

Rows::Rows(const MatrixView& matrix, bool normalised, const RunContext& run)
    : matrix_(matrix), normalised_(normalised) {
  require_values(matrix_);
  if (!normalised_) norms_ = Array<double>(matrix_.rows, run.meter);
  std::atomic<std::size_t> first_bad{kNone};
  const std::size_t grain = std::max(kAbreast, kPieceBytes / std::max<std::size_t>(matrix_.row_bytes, 1));
  const auto check = [&](std::size_t begin, std::size_t end, unsigned) {
    if (begin > first_bad.load(std::memory_order_relaxed)) return;
    const std::size_t bad = with_type(matrix_.type, [&]<ValueType type>() {
      return normalised_ ? check_rows<type, true>(matrix_, begin, end, nullptr)
                         : check_rows<type, false>(matrix_, begin, end, norms_.data());
    });
    std::size_t known = first_bad.load(std::memory_order_relaxed);
    while (bad < known && !first_bad.compare_exchange_weak(known, bad, std::memory_order_relaxed)) {
    }
  };
  parallel_for(run, matrix_.rows, grain, check, Report::progress);
  if (const std::size_t bad = first_bad.load(); bad != kNone)
    with_type(matrix_.type, [&]<ValueType type>() { refuse_row<type>(matrix_, bad, normalised_); });
}

void Rows::read(std::size_t i, float* out) const noexcept {
  const std::byte* row = matrix_.row(i);
  if (normalised_) {
    with_type(matrix_.type, [&]<ValueType type>() { read_converted<type>(row, matrix_.cols, out); });
  } else if (const double norm = norms_[i]; norm < 0) {
    read_scaled(row, matrix_.cols, -norm, out);
  } else {
    with_type(matrix_.type, [&]<ValueType type>() { read_divided<type>(row, matrix_.cols, norm, out); });
  }
}

}  // namespace gcbs
