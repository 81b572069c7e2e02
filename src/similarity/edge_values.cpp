// s(i,j) for every kept edge.
//
// Requires: columns of a row ascending. Ensures: the bits of `similarity` in definition.h, rounded once.
// Cost: a division for every value of Y and up to four for every value of X, then d products an edge.
//
// The idea: a row of Y has many edges, and normalising it costs more than the product does. So a stripe of
// Y's rows is normalised once and held, and all edges into it are summed, four at a time: each sum is a
// chain of d additions in the order of the definition, and four chains keep the adder busy. The stripes are
// few, because every one reads the rows of X again.
#include "similarity/edge_values.h"

#include <algorithm>
#include <vector>

namespace gcbs {
namespace {

constexpr std::size_t kSideBySide = 4, kMostStripes = 4, kRowsAtOnce = 16;

std::size_t stripe_rows(std::size_t rows, std::size_t cols, std::size_t stripe_bytes) {
  const std::size_t in_bytes = stripe_bytes / (cols * sizeof(float));
  return std::clamp(in_bytes, (rows + kMostStripes - 1) / kMostStripes, std::max<std::size_t>(rows, 1));
}

/// values[c] = s of x and the row of the stripe that columns[c] names.
void sum_row(const float* x, const float* stripe, std::size_t first, std::size_t dim,
             std::span<const Vertex> columns, float* values) {
  for (std::size_t c = 0; c < columns.size(); c += kSideBySide) {
    const std::size_t together = std::min(kSideBySide, columns.size() - c);
    const float* y[kSideBySide];
    // Chains that are not needed repeat the last one.
    for (std::size_t s = 0; s < kSideBySide; ++s)
      y[s] = stripe + (columns[c + std::min(s, together - 1)] - first) * dim;
    double sums[kSideBySide] = {};
    for (std::size_t k = 0; k < dim; ++k)
      for (std::size_t s = 0; s < kSideBySide; ++s)
        sums[s] += static_cast<double>(x[k]) * static_cast<double>(y[s][k]);
    for (std::size_t s = 0; s < together; ++s) values[c + s] = static_cast<float>(sums[s]);
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
      for (std::size_t i = begin; i < end; ++i) {
        const std::span<const Vertex> row = edges.row(i);
        const auto from = std::lower_bound(row.begin(), row.end(), first);
        const auto to = std::lower_bound(from, row.end(), last);
        if (from == to) continue;
        x.read(i, x_row.data());
        sum_row(x_row.data(), stripe.data(), first, dim, {from, to},
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
