// Intervals thrown at random around known values: what comes out is what a sort of the values gives.
#include "mining/best_columns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/random.h"

namespace gcbs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<Vertex> sorted_best(const std::vector<double>& values, std::size_t wanted, double floor,
                                double ceiling) {
  std::vector<Vertex> best;
  for (std::size_t j = 0; j < values.size(); ++j)
    if (values[j] > floor && values[j] <= ceiling) best.push_back(static_cast<Vertex>(j));
  std::stable_sort(best.begin(), best.end(), [&](Vertex a, Vertex b) { return values[a] > values[b]; });
  best.resize(std::min(wanted, best.size()));
  return best;
}

/// Adds all columns with intervals of up to `width` on each side; how often exact values were needed.
int add_all(BestColumns& best, std::size_t r, const std::vector<double>& values, double width, double ceiling,
            Random& random) {
  int rankings = 0;
  const auto make_exact = [&] {
    for (Contender& c : best.row(r)) c.low = c.high = values[c.column];
  };
  const auto share = [&] { return static_cast<double>(random.below(1000)) / 1000; };
  for (std::size_t j = 0; j < values.size(); ++j) {
    const Contender contender{values[j] - width * share() - 1e-12, values[j] + width * share() + 1e-12,
                              static_cast<Vertex>(j)};
    if (contender.high <= best.limit(r) || contender.low > ceiling) continue;
    if (!best.add(r, contender) || best.thin(r, ceiling)) continue;
    make_exact();
    best.rank(r, ceiling);
    ++rankings;
  }
  EXPECT_LT(best.row(r).size() * sizeof(Contender), BestColumns::bytes_a_row(values.size()));
  make_exact();
  best.rank(r, ceiling);
  return rankings;
}

TEST(BestColumns, AreThoseOfASort) {
  Random random(1);
  int rankings = 0;
  for (const std::size_t wanted : {1u, 2u, 7u, 40u, 600u})
    for (const std::uint64_t distinct : {3u, 50u, 1000000u})
      for (const double width : {0.0, 0.001, 0.3})
        for (const double floor : {-kInfinity, 0.2})
          for (const double ceiling : {kInfinity, 0.9, 0.5}) {
            BestColumns best(2, wanted, floor, nullptr);
            for (int round = 0; round < 2; ++round, best.clear())
              for (const std::size_t r : {1u, 0u}) {
                std::vector<double> values(700);
                for (double& value : values)
                  value = static_cast<double>(random.below(distinct)) / static_cast<double>(distinct);
                rankings += add_all(best, r, values, width, ceiling, random);
                std::vector<Vertex> found;
                for (const Contender& c : best.row(r)) found.push_back(c.column);
                ASSERT_EQ(found, sorted_best(values, wanted, floor, ceiling));
              }
          }
  EXPECT_GT(rankings, 100);
}

TEST(BestColumns, ThinningRaisesTheLimitAndKeepsNoMoreThanItMust) {
  BestColumns best(1, 1, -kInfinity, nullptr);
  for (Vertex j = 0; j < 1000; ++j) {
    const double value = static_cast<double>(j % 100);
    const Contender contender{value - 0.25, value + 0.25, j};
    if (contender.high <= best.limit(0)) continue;
    if (best.add(0, contender)) {
      EXPECT_TRUE(best.thin(0, kInfinity));
    }
  }
  EXPECT_EQ(best.limit(0), 98.75);
  EXPECT_LE(best.row(0).size(), 10u);
}

}  // namespace
}  // namespace gcbs
