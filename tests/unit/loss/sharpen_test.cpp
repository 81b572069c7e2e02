// Anchors in doubt: who they are, and what the definition makes of their sums.
#include "loss/sharpen.h"

#include <gtest/gtest.h>

#include "unit/loss/brute_force.h"

namespace gcbs {
namespace {

using namespace testing;

std::size_t count_in_doubt(const std::vector<double>& shares, double limit) {
  return static_cast<std::size_t>(
      std::count_if(shares.begin(), shares.end(), [&](double share) { return share >= limit; }));
}

TEST(Doubt, IsOfFewAnchorsWithAllOfTheLoss) {
  std::vector<double> shares(10000, 1e-9);
  shares[17] = 0.5, shares[4000] = 0.6;
  EXPECT_EQ(count_in_doubt(shares, find_doubt_limit(shares, 1e-2, 1e-4, 100)), 2u);
  EXPECT_EQ(find_doubt_limit(shares, 1e-7, 1e-4, 100), kInfinity);  // products as good as exact
}

TEST(Doubt, IsNotOfManyAnchorsWhoseErrorsCancel) {
  const std::vector<double> shares(100000, 0.5);
  EXPECT_EQ(find_doubt_limit(shares, 2e-3, 0.7, shares.size()), kInfinity);
}

TEST(Doubt, LeavesErrorsThatAreSmallTogether) {
  std::vector<double> shares;
  Random random(3);
  for (int i = 0; i < 3000; ++i) shares.push_back(std::exp(-static_cast<double>(random.below(2000)) / 100));
  const double moved = 0.01, loss = 0.02;
  const double limit = find_doubt_limit(shares, moved, loss, shares.size());
  double squares = 0;
  for (const double share : shares) squares += share < limit ? share * share : 0;
  EXPECT_LE(std::sqrt(squares) * moved / 3000, 0.25e-4 * loss);
  EXPECT_GT(count_in_doubt(shares, limit), 0u);
  EXPECT_LT(count_in_doubt(shares, limit), 1500u);
}

TEST(Doubt, TakesAnchorsThatAreAboutAsBadAllOrNone) {
  std::vector<double> shares;
  for (int i = 0; i < 100; ++i) shares.push_back(0.9 + 1e-5 * i);
  EXPECT_EQ(count_in_doubt(shares, find_doubt_limit(shares, 0.01, 1, 100)), 100u);
  EXPECT_EQ(find_doubt_limit(shares, 0.01, 1, 99), kInfinity);
  shares[5] = 0.99999, shares.push_back(1);
  EXPECT_EQ(count_in_doubt(shares, find_doubt_limit(shares, 0.01, 1, 99)), 1u);
}

TEST(Doubt, IsNeverOfAnchorsWithoutNegatives) {
  std::vector<double> shares{0, 0.5, 0};
  EXPECT_EQ(count_in_doubt(shares, find_doubt_limit(shares, 10, 1, 3)), 1u);
}

/// Sums by int16 products, and what they should be, for the rows or columns of a part.
class Sums {
 public:
  Sums(const LossPart& part, const Matrix& left, const Matrix& right, const Matrix& x, const Matrix& y,
       const FilterOptions& filter, double temperature, bool by_column)
      : n_(part.count()) {
    const std::vector<double> s = all_similarities(left, right), pairs = all_similarities(x, y);
    for (std::size_t a = 0; a < n_; ++a) {
      LogSum near, exact;
      double most = -kInfinity;
      for (std::size_t b = 0; b < n_; ++b) {
        if (part.paired && !admits(filter, pairs, n_, a, b)) continue;
        const auto i = static_cast<Vertex>(by_column ? b : a), j = static_cast<Vertex>(by_column ? a : b);
        std::int64_t product = 0;
        for (std::size_t k = 0; k < part.fine.x.stride; ++k)
          product += std::int64_t{part.fine.x.row(i)[k]} * part.fine.y.row(j)[k];
        near.add(part.value(static_cast<float>(product), i, j) / temperature);
        exact.add(s[i * n_ + j] / temperature);
        most = std::max(most, s[i * n_ + j]);
      }
      if (near.value() == -kInfinity) continue;
      anchors.push_back({static_cast<Vertex>(a), near.value(), most + 1e-5});
      exact_sums.push_back(exact.value());
      largest.push_back(most);
    }
  }

  std::vector<DoubtfulAnchor> anchors;
  std::vector<double> exact_sums, largest;

 private:
  std::size_t n_;
};

class SharpenerOfKernel : public ::testing::TestWithParam<NamedKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, SharpenerOfKernel, ::testing::ValuesIn(runnable_kernels()),
                         [](const auto& kernel) { return kernel.param.name; });

TEST_P(SharpenerOfKernel, PutsSumsRight) {
  constexpr std::size_t kRows = 300;  // two pieces of columns
  const Data data("clustered", kRows, 20);
  const LossPart pairs = make_part(data.rows_x, data.rows_y, true, 0, data.run);
  const LossPart extra = make_part(data.rows_x, data.rows_z, false, 0, data.run);
  for (const auto& [name, filter] : many_filters(kRows, all_similarities(data.x, data.y)))
    for (const bool by_column : {false, true})
      for (const bool paired : {true, false})
        for (const double temperature : {1.0, 0.01}) {
          if (by_column && !paired) continue;
          if (kSlowBuild && name != "none" && name != "all") continue;
          SCOPED_TRACE(name + (by_column ? ", columns" : ", rows") + (paired ? ", paired" : ", extra"));
          const LossPart& part = paired ? pairs : extra;
          Sums sums(part, data.x, paired ? data.y : data.z, data.x, data.y, filter, temperature, by_column);
          const PairJudge judge(filter, data.rows_x, data.rows_y, data.run);
          const KernelOnThread ready(*GetParam().kernel);
          Sharpener({{&part, by_column}}, judge, temperature, *GetParam().kernel, data.run)
              .sharpen(sums.anchors, in_order(kRows));
          // What is left: terms below a thousandth.
          const double left = temperature == 1 ? 1e-12 : 0.3 * part.worst_bound() / temperature;
          for (std::size_t a = 0; a < sums.anchors.size(); ++a) {
            ASSERT_NEAR(sums.anchors[a].log_sum, sums.exact_sums[a], left) << a;
            if (temperature < 1) {
              ASSERT_EQ(sums.anchors[a].most, sums.largest[a]) << a;
            }
          }
        }
}

TEST(SharpenerAtTheEdge, LeavesSumsWhoseErrorsLeaveFloat64) {
  const Data data("normal", 40, 8);
  const LossPart part = make_part(data.rows_x, data.rows_y, true, 0, data.run);
  const PairJudge judge({}, data.rows_x, data.rows_y, data.run);
  for (const double temperature : {1e-6, 1e-9}) {
    std::vector<DoubtfulAnchor> anchors{{3, 0.5 / temperature, 0.5}};
    Sharpener({{&part, false}}, judge, temperature, kScalarKernel, data.run).sharpen(anchors, in_order(40));
    EXPECT_TRUE(std::isfinite(anchors[0].log_sum));
  }
}

/// A loss that comes from one pair of duplicates among rows far from each other.
TEST(LossModel, OfFewDuplicatesIsExact) {
  constexpr std::size_t kRows = 200, kCols = 40;
  Data data("normal", kRows, kCols);
  for (Matrix* side : {&data.x, &data.y})
    for (std::size_t i = 0; i < kRows; ++i)
      for (std::size_t k = 0; k < kCols; ++k)
        side->values[i * kCols + k] =
            data.z.values[(i == 150 ? 20 : i) * kCols + k] + (side == &data.x ? 0 : 1e-3f);
  const Rows x(data.x.view(), false, data.run), y(data.y.view(), false, data.run);
  LossOptions options;
  options.temperature = 0.01;
  options.random_trials = 3;
  const BruteLoss brute(data, false, options);
  const LossModel model(x, y, nullptr, options, kernel_for(choose_isa()), data.run, 0);
  const GlobalLoss global = model.global();
  const double exact = brute.of_order(in_order(kRows), kRows).loss.both;
  EXPECT_NEAR(global.loss.both, exact, 1e-6 * exact);
  std::vector<Vertex> order = in_order(kRows);
  std::swap(order[21], order[150]);
  EXPECT_NEAR(model.of_order(order, 10, global).loss.both, exact, 1e-6 * exact);
}

}  // namespace
}  // namespace gcbs
