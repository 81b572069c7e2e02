// The kept edges carry most of a row's sum; an exact rest would cost as much as the join does.
//
// Ensures: exact up to rounding where the sample holds all columns (32 rows or fewer). Cost: 32 products a
// row, in float32 lanes, since nothing is decided by them, and an exponential for each and for every edge.
#include "similarity/softmax_sums.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/elementary.h"
#include "base/random.h"

namespace gcbs {
namespace {

constexpr std::size_t kSample = 32, kLanes = 16, kRowsAtOnce = 64;

double product(const float* a, const float* b, std::size_t dim) noexcept {
  float lanes[kLanes] = {};
  std::size_t k = 0;
  for (; k + kLanes <= dim; k += kLanes)
    for (std::size_t l = 0; l < kLanes; ++l) lanes[l] += a[k + l] * b[k + l];
  double sum = 0;
  for (; k < dim; ++k) sum += static_cast<double>(a[k]) * static_cast<double>(b[k]);
  for (const float lane : lanes) sum += static_cast<double>(lane);
  return sum;
}

/// Distinct columns, ascending.
std::vector<Vertex> draw_columns(std::size_t columns, std::uint64_t seed) {
  const std::size_t count = std::min(kSample, columns);
  Random random(seed);
  std::vector<Vertex> drawn;
  if (columns <= 2 * kSample) {
    drawn.resize(columns);
    std::iota(drawn.begin(), drawn.end(), Vertex{0});
    for (std::size_t i = 0; i < count; ++i) std::swap(drawn[i], drawn[i + random.below(columns - i)]);
    drawn.resize(count);
  }
  while (drawn.size() < count) {
    const auto column = static_cast<Vertex>(random.below(columns));
    if (std::find(drawn.begin(), drawn.end(), column) == drawn.end()) drawn.push_back(column);
  }
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

/// Exponents relative to the largest one: no overflow, whatever the temperature.
double log_sum(const std::vector<double>& kept, const std::vector<double>& sampled, double unseen,
               double temperature) {
  double most = kept.front();
  for (const std::vector<double>* values : {&kept, &sampled})
    for (const double s : *values) most = std::max(most, s);
  double sum = 0, rest = 0;
  for (const double s : kept) sum += exp_of((s - most) / temperature);
  for (const double s : sampled) rest += exp_of((s - most) / temperature);
  if (!sampled.empty()) sum += rest * (unseen / static_cast<double>(sampled.size()));
  return most / temperature + log_of(sum);
}

}  // namespace

Array<double> estimate_log_sums(const Rows& x, const Rows& y, const Edges& edges, const Array<float>& values,
                                double temperature, std::uint64_t seed, const RunContext& run) {
  const std::size_t n = y.count(), dim = y.dim();
  const std::vector<Vertex> columns = draw_columns(n, seed);
  std::vector<float> sample(columns.size() * dim);
  for (std::size_t c = 0; c < columns.size(); ++c) y.read(columns[c], sample.data() + c * dim);
  Array<double> sums(x.count(), run.meter);
  parallel_for(run, x.count(), kRowsAtOnce, [&](std::size_t begin, std::size_t end, unsigned) {
    std::vector<float> x_row(dim), y_row(dim);
    std::vector<double> kept, sampled;
    for (std::size_t i = begin; i < end; ++i) {
      x.read(i, x_row.data());
      y.read(i, y_row.data());
      kept.assign(1, product(x_row.data(), y_row.data(), dim));
      const std::span<const Vertex> row = edges.row(i);
      for (std::size_t c = 0; c < row.size(); ++c)
        if (row[c] != i) kept.push_back(static_cast<double>(values[edges.offsets[i] + c]));
      sampled.clear();
      for (std::size_t c = 0; c < columns.size(); ++c)
        if (columns[c] != i && !std::binary_search(row.begin(), row.end(), columns[c]))
          sampled.push_back(product(x_row.data(), sample.data() + c * dim, dim));
      sums[i] = log_sum(kept, sampled, static_cast<double>(n - kept.size()), temperature);
    }
  });
  return sums;
}

}  // namespace gcbs
