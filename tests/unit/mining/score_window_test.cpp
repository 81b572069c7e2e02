#include "mining/score_window.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "support/matrices.h"

namespace gcbs {
namespace {

using namespace testing;

TEST(LargestWithinMargin, IsTheLastNumberThatTheComparisonLetsThrough) {
  Random random(3);
  const auto uniform = [&] { return static_cast<double>(random.next() >> 11) * 0x1p-52 - 1; };
  for (int trial = 0; trial < 2000; ++trial) {
    const double p = trial % 5 == 0 ? 0.5 : uniform(),
                 margin = trial % 3 == 0 ? 0.5 : std::abs(uniform()) * 2;
    const double s = largest_within_margin(p, margin);
    EXPECT_LE(s + margin, p);
    EXPECT_GT(std::nextafter(s, 4.0) + margin, p);
  }
  EXPECT_EQ(largest_within_margin(0.25, 0), 0.25);
}

TEST(ScoreWindow, TakesTheStrictestRuleOfEachRow) {
  const Matrix x = make_matrix("normal", 50, 8, 1), y = make_matrix("normal", 60, 8, 2);
  const RunContext context;
  const Rows rows_x(x.view(), false, context), rows_y(y.view(), false, context);
  const Exclusions exclusions(50, 60, {}, {});
  MiningOptions options;
  EXPECT_TRUE(find_score_window(rows_x, rows_y, exclusions, options, context).ceiling.empty());
  EXPECT_EQ(find_score_window(rows_x, rows_y, exclusions, options, context).floor, -INFINITY);
  options.max_score = 0.3;
  options.min_score = 0.1;
  options.relative_margin = 0.2;
  options.absolute_margin = 0.05;
  const ScoreWindow window = find_score_window(rows_x, rows_y, exclusions, options, context);
  EXPECT_LT(window.floor, 0.1);
  EXPECT_EQ(std::nextafter(window.floor, 1.0), 0.1);
  const std::vector<double> all = all_similarities(x, y);
  for (std::size_t i = 0; i < 50; ++i) {
    const double p = all[i * 60 + i];
    const auto allowed = [p](double s) { return s <= 0.3 && s <= p - std::abs(p) * 0.2 && !(s + 0.05 > p); };
    EXPECT_TRUE(allowed(window.ceiling[i]));
    EXPECT_FALSE(allowed(std::nextafter(window.ceiling[i], 2.0)));
  }
}

}  // namespace
}  // namespace gcbs
