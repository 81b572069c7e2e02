// s(i,j) for every kept edge.
//
// Requires: columns of a row ascending. Ensures: the bits of `similarity` in definition.h, rounded once.
// Cost: a division for every value of Y and up to four for every value of X, then d products an edge.
//
// The idea: a row of Y has many edges, and normalising it costs more than the product does. So a stripe of
// Y's rows is normalised once and held, and all edges into it are summed, eight at a time: each sum is a
// chain of d additions in the order of the definition, two chains share a register of 128 bits, which every
// machine has, and four registers keep the adder busy. The stripes are few, because every one reads the rows
// of X again.
#include "similarity/edge_values.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace gcbs {
namespace {

constexpr std::size_t kSideBySide = 8, kMostStripes = 4, kRowsAtOnce = 16, kFloatsALine = 16;

std::size_t stripe_rows(std::size_t rows, std::size_t cols, std::size_t stripe_bytes) {
  const std::size_t in_bytes = stripe_bytes / (cols * sizeof(float));
  return std::clamp(in_bytes, (rows + kMostStripes - 1) / kMostStripes, std::max<std::size_t>(rows, 1));
}

using Double2 = double __attribute__((vector_size(16)));
using Float4 = float __attribute__((vector_size(16)));

Float4 load4(const float* values) noexcept {
  Float4 four;
  std::memcpy(&four, values, sizeof(four));
  return four;
}

/// {a[0], b[0]}, {a[1], b[1]}, ... as float64: two rows side by side in a register, each its own chain.
struct Interleaved {
  Double2 at[4];
  Interleaved(const float* a, const float* b) noexcept {
    const Float4 left = load4(a), right = load4(b);
    const Float4 low = __builtin_shufflevector(left, right, 0, 4, 1, 5);
    const Float4 high = __builtin_shufflevector(left, right, 2, 6, 3, 7);
    at[0] = __builtin_convertvector(__builtin_shufflevector(low, low, 0, 1), Double2);
    at[1] = __builtin_convertvector(__builtin_shufflevector(low, low, 2, 3), Double2);
    at[2] = __builtin_convertvector(__builtin_shufflevector(high, high, 0, 1), Double2);
    at[3] = __builtin_convertvector(__builtin_shufflevector(high, high, 2, 3), Double2);
  }
};

/// sums[s] = the products of x and y[s], added in index order. x is in float64, each value twice. Rows of Y
/// lie anywhere, and waiting for them costs more than the sums: the next ones are asked for on the way.
void sum_products(const double* x, const float* const* y, const float* const* next, std::size_t dim,
                  double* sums) noexcept {
  Double2 pairs[kSideBySide / 2] = {};
  std::size_t k = 0;
  for (; k + 4 <= dim; k += 4) {
    if (k % kFloatsALine == 0)
      for (std::size_t s = 0; s < kSideBySide; ++s) __builtin_prefetch(next[s] + k);
    Double2 x_at[4];
    std::memcpy(x_at, x + 2 * k, sizeof(x_at));
    for (std::size_t p = 0; p < kSideBySide / 2; ++p) {
      const Interleaved rows(y[2 * p] + k, y[2 * p + 1] + k);
      for (std::size_t l = 0; l < 4; ++l) pairs[p] += x_at[l] * rows.at[l];
    }
  }
  for (std::size_t s = 0; s < kSideBySide; ++s) {
    sums[s] = pairs[s / 2][s % 2];
    for (std::size_t rest = k; rest < dim; ++rest) sums[s] += x[2 * rest] * static_cast<double>(y[s][rest]);
  }
}

/// values[c] = s of x and the row of the stripe that columns[c] names.
void sum_row(const double* x, const float* stripe, std::size_t first, std::size_t dim,
             std::span<const Vertex> columns, float* values) {
  // Chains that are not needed repeat the last one.
  const auto rows_from = [&](std::size_t c) {
    std::array<const float*, kSideBySide> rows{};
    for (std::size_t s = 0; s < kSideBySide; ++s)
      rows[s] = stripe + (columns[std::min(c + s, columns.size() - 1)] - first) * dim;
    return rows;
  };
  std::array<const float*, kSideBySide> rows = rows_from(0);
  for (std::size_t c = 0; c < columns.size(); c += kSideBySide) {
    const std::array<const float*, kSideBySide> next = rows_from(c + kSideBySide);
    double sums[kSideBySide];
    sum_products(x, rows.data(), next.data(), dim, sums);
    const std::size_t together = std::min(kSideBySide, columns.size() - c);
    for (std::size_t s = 0; s < together; ++s) values[c + s] = static_cast<float>(sums[s]);
    rows = next;
  }
}

}  // namespace

Array<float> edge_values(const Rows& x, const Rows& y, const Edges& edges, const RunContext& run,
                         std::size_t stripe_bytes) {
  const std::size_t n = y.count(), dim = x.dim(), rows = stripe_rows(n, dim, stripe_bytes);
  Array<float> values(edges.count(), run.meter);
  Array<float> stripe(std::min(rows, n) * dim, run.meter);
  for (std::size_t first = 0; first < n; first += rows) {
    const std::size_t last = std::min(n, first + rows);
    parallel_for(run, last - first, kRowsAtOnce, [&](std::size_t begin, std::size_t end, unsigned) {
      for (std::size_t r = begin; r < end; ++r) y.read(first + r, stripe.data() + r * dim);
    });
    parallel_for(run, edges.rows(), kRowsAtOnce, [&](std::size_t begin, std::size_t end, unsigned) {
      std::vector<float> x_row(dim);
      std::vector<double> twice(2 * dim);
      for (std::size_t i = begin; i < end; ++i) {
        const std::span<const Vertex> row = edges.row(i);
        const auto from = std::lower_bound(row.begin(), row.end(), first);
        const auto to = std::lower_bound(from, row.end(), last);
        if (from == to) continue;
        x.read(i, x_row.data());
        for (std::size_t k = 0; k < 2 * dim; ++k) twice[k] = static_cast<double>(x_row[k / 2]);
        sum_row(twice.data(), stripe.data(), first, dim, {from, to},
                values.data() + edges.offsets[i] + (from - row.begin()));
      }
    });
  }
  return values;
}

double edge_values_bytes(std::size_t rows, std::size_t cols, double edges) {
  return static_cast<double>(stripe_rows(rows, cols, kStripeBytes) * cols * sizeof(float)) +
         edges * sizeof(float);
}

}  // namespace gcbs
