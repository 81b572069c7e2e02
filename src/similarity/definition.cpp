// A product of two float32 values is exact in float64, so only the additions round, and their order
// is fixed. One sum is a chain of d dependent additions; four pairs are summed side by side to keep
// the adder busy. Each sum keeps its own order, hence its bits.
#include "similarity/definition.h"

#include <algorithm>
#include <cmath>

#include "matrix/equal_rows.h"
#include "matrix/load.h"

namespace gcbs {
namespace {
constexpr std::size_t kSideBySide = 4;
constexpr std::size_t kKnownPairs = 1 << 14;
constexpr std::uint32_t kNobody = ~std::uint32_t{0};

/// The inner product of two rows as they are, added in lanes.
template <ValueType type>
double raw_product(const std::byte* x, const std::byte* y, std::size_t dim) noexcept {
  constexpr std::size_t kLanes = 8;
  double lanes[kLanes] = {};
  std::size_t k = 0;
  for (; k + kLanes <= dim; k += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l)
      lanes[l] += static_cast<double>(load<type>(x, k + l)) * static_cast<double>(load<type>(y, k + l));
  for (; k < dim; ++k)
    lanes[k % kLanes] += static_cast<double>(load<type>(x, k)) * static_cast<double>(load<type>(y, k));
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

RowClasses::RowClasses(const Rows& x, const Rows& y, const RunContext& run)
    : x_(first_equal_rows(x.matrix(), run)), y_(first_equal_rows(y.matrix(), run)) {}

double similarity(const float* x, const float* y, std::size_t dim) noexcept {
  double sum = 0;
  for (std::size_t k = 0; k < dim; ++k) sum += static_cast<double>(x[k]) * static_cast<double>(y[k]);
  return sum;
}

Definition::Definition(const Rows& x, const Rows& y, const RowClasses* classes, const FinePrepared* places,
                       bool places_of_x_only)
    : x_(&x),
      y_(&y),
      classes_(classes),
      places_x_(places != nullptr ? &places->x.places : nullptr),
      places_y_(places != nullptr && !places_of_x_only ? &places->y.places : nullptr),
      x_row_(x.dim()),
      y_rows_(kSideBySide * y.dim()),
      known_(classes != nullptr ? kKnownPairs : 0, Known{kNobody, kNobody, 0}) {}

void Definition::evaluate(std::span<const FinePair> pairs, std::span<double> values) {
  if (classes_ == nullptr) return sum(pairs, values);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const std::uint32_t x = classes_->of_x(row_x(pairs[p].row)), y = classes_->of_y(row_y(pairs[p].col));
    Known& known = known_[(x * 0x9E3779B1u ^ y * 0x85EBCA77u) >> 7 & (kKnownPairs - 1)];
    if (known.x != x || known.y != y) {
      known = {x, y, 0};
      sum(pairs.subspan(p, 1), {&known.value, 1});
    }
    values[p] = known.value;
  }
}

double Definition::near(const FinePair& pair) const noexcept {
  const std::size_t i = row_x(pair.row), j = row_y(pair.col);
  const MatrixView &x = x_->matrix(), &y = y_->matrix();
  const double norms = x_->norm(i) * y_->norm(j);
  if (x.type != y.type || x_->norm(i) < 0 || y_->norm(j) < 0) return std::nan("");
  switch (x.type) {
    case ValueType::float32: return raw_product<ValueType::float32>(x.row(i), y.row(j), x.cols) / norms;
    case ValueType::float16: return raw_product<ValueType::float16>(x.row(i), y.row(j), x.cols) / norms;
    case ValueType::bfloat16: return raw_product<ValueType::bfloat16>(x.row(i), y.row(j), x.cols) / norms;
    case ValueType::float64: return raw_product<ValueType::float64>(x.row(i), y.row(j), x.cols) / norms;
  }
  return std::nan("");
}

// Each value of the definition's rows is rounded to float32, a relative error of at most 2^-24 on either
// side (values that become denormal: less than 2^-149 each); all float64 roundings together are below
// 8 d 2^-53. Norms are below 1.0011, also of rows said to be normalised.
double Definition::near_bound() const noexcept {
  return 1.1 * 0x1p-23 + static_cast<double>(x_->dim()) * 0x1p-50;
}

void Definition::sum(std::span<const FinePair> pairs, std::span<double> values) {
  const std::size_t dim = x_->dim();
  std::size_t p = 0;
  while (p < pairs.size()) {
    const std::uint32_t row = pairs[p].row;
    x_->read(row_x(row), x_row_.data());
    while (p < pairs.size() && pairs[p].row == row) {
      std::size_t together = 0;
      while (together < kSideBySide && p + together < pairs.size() && pairs[p + together].row == row) {
        y_->read(row_y(pairs[p + together].col), y_rows_.data() + together * dim);
        ++together;
      }
      // Unused buffers hold older rows: summed and ignored.
      double sums[kSideBySide] = {};
      const float* y = y_rows_.data();
      for (std::size_t k = 0; k < dim; ++k)
        for (std::size_t s = 0; s < kSideBySide; ++s)
          sums[s] += static_cast<double>(x_row_[k]) * static_cast<double>(y[s * dim + k]);
      std::copy_n(sums, together, values.begin() + static_cast<std::ptrdiff_t>(p));
      p += together;
    }
  }
}

}  // namespace gcbs
