#include <gtest/gtest.h>

#include <map>

#include "ordering/orders.h"
#include "support/graphs.h"

namespace gcbs {
namespace {

using List = std::vector<Vertex>;

TEST(Random, IsAPermutation) {
  for (const std::size_t vertices : {0u, 1u, 2u, 3u, 100u, 4097u})
    for (const std::uint64_t seed : {0u, 1u, 99u})
      EXPECT_TRUE(testing::is_permutation_of(order_random(vertices, seed).old_of_new, vertices));
}

TEST(Random, DependsOnTheSeedAlone) {
  EXPECT_EQ(order_random(1000, 7).old_of_new, order_random(1000, 7).old_of_new);
  EXPECT_NE(order_random(1000, 7).old_of_new, order_random(1000, 8).old_of_new);
  // Pinned: the same bytes on every machine and in every release (contract C3).
  EXPECT_EQ(order_random(10, 0).old_of_new, List({6, 3, 2, 9, 8, 1, 4, 7, 0, 5}));
}

TEST(Random, EveryPermutationIsAsLikely) {
  std::map<List, int> times;
  const int trials = 24'000;
  for (int seed = 0; seed < trials; ++seed) ++times[order_random(4, static_cast<unsigned>(seed)).old_of_new];
  EXPECT_EQ(times.size(), 24u);
  for (const auto& [order, count] : times) EXPECT_NEAR(count, 1000, 160);  // five standard deviations
}

}  // namespace
}  // namespace gcbs
