// Estimated sums against all similarities: exact where the sample is everything, close elsewhere.
#include "similarity/softmax_sums.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/graphs.h"
#include "support/matrices.h"

namespace gcbs {
namespace {

using namespace testing;

struct Sums {
  std::vector<double> estimated, exact;
};

Sums sums_of(const std::string& kind, std::size_t rows, double quantile, double temperature,
             unsigned threads) {
  const Matrix a = make_matrix(kind, rows, 24, 1), b = make_matrix(kind, rows, 24, 2);
  const MatrixView view_x = a.view(), view_y = b.view();
  const RunContext run{threads, nullptr, nullptr};
  const Rows x(view_x, false, run), y(view_y, false, run);
  const std::vector<double> all = all_similarities(a, b);
  const double t = quantile_of(all, quantile);
  const Edges edges = edges_of(rows, edges_above(all, rows, rows, t, false));
  Array<float> values(edges.count());
  for (std::size_t i = 0; i < rows; ++i)
    for (EdgeIndex e = edges.offsets[i]; e < edges.offsets[i + 1]; ++e)
      values[e] = static_cast<float>(all[i * rows + edges.columns[e]]);
  const Array<double> found = estimate_log_sums(x, y, edges, values, temperature, 3, run);
  Sums sums;
  sums.estimated.assign(found.begin(), found.end());
  for (std::size_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < rows; ++j) sum += std::exp(all[i * rows + j] / temperature);
    sums.exact.push_back(std::log(sum));
  }
  return sums;
}

TEST(SoftmaxSums, AreExactWhereTheSampleIsEverything) {
  for (const std::string kind : {"normal", "clustered", "duplicates", "onehot"}) {
    for (const std::size_t rows : {std::size_t{2}, std::size_t{9}, std::size_t{32}}) {
      const Sums sums = sums_of(kind, rows, 0.8, 0.05, 1);
      for (std::size_t i = 0; i < rows; ++i) EXPECT_NEAR(sums.estimated[i], sums.exact[i], 1e-4) << kind;
    }
  }
}

TEST(SoftmaxSums, AreCloseWhereEdgesCarryTheSum) {
  const Sums sums = sums_of("clustered", 900, 0.9, 0.05, 2);
  double off = 0;
  for (std::size_t i = 0; i < sums.exact.size(); ++i)
    off += std::abs(sums.estimated[i] - sums.exact[i]) / static_cast<double>(sums.exact.size());
  EXPECT_LT(off, 0.1);
}

TEST(SoftmaxSums, AreTheSameForEveryThreadCount) {
  EXPECT_EQ(sums_of("normal", 300, 0.95, 0.05, 1).estimated, sums_of("normal", 300, 0.95, 0.05, 4).estimated);
}

TEST(SoftmaxSums, StandLowTemperatures) {
  const Sums sums = sums_of("normal", 200, 0.95, 1e-5, 1);
  for (const double sum : sums.estimated) EXPECT_TRUE(std::isfinite(sum));
}

}  // namespace
}  // namespace gcbs
