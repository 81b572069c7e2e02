// Blocks mixed, shares drawn, batches shuffled: what stays together, what goes where.
#include "batches/arrange.h"

#include <gtest/gtest.h>

#include <set>

#include "group_cases.h"

namespace gcbs {
namespace {

using namespace testing;

std::set<Vertex> rows_of(const std::vector<Vertex>& order, std::size_t first, std::size_t count) {
  const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(std::min(count, order.size() - first))};
}

TEST(MixBlocks, KeepsBlocksWholeAndTheShortOneInTheShortBatch) {
  Random random(1);
  for (std::size_t trial = 0; trial < 2000; ++trial) {
    const std::size_t block = 1 + random.below(5), size = block * (1 + random.below(5));
    const std::size_t rows = std::max<std::size_t>(size, 2) + random.below(8 * size);
    const std::vector<Vertex> order = shuffled_rows(rows, random);
    const std::vector<Vertex> mixed = mix_blocks(order, block, size, {}, trial);
    ASSERT_TRUE(is_permutation_of(mixed, rows));
    // Blocks stand in the batches as they were: position by position.
    std::vector<std::size_t> place(rows);
    for (std::size_t p = 0; p < rows; ++p) place[order[p]] = p;
    for (std::size_t p = 0; p < rows; ++p) {
      ASSERT_EQ(place[mixed[p]] % block, p % block);
      if (p % block > 0) {
        ASSERT_EQ(place[mixed[p]], place[mixed[p - 1]] + 1);
      }
    }
    if (rows % block > 0) {
      ASSERT_EQ(mixed.back(), order.back());
    }
  }
}

TEST(MixBlocks, MixesFarBlocksAndFollowsTheSeed) {
  std::vector<Vertex> order(1000);
  std::iota(order.begin(), order.end(), Vertex{0});
  const std::vector<Vertex> a = mix_blocks(order, 10, 50, {}, 1);
  EXPECT_EQ(a, mix_blocks(order, 10, 50, {}, 1));
  EXPECT_NE(a, mix_blocks(order, 10, 50, {}, 2));
  double distance = 0;
  for (std::size_t p = 10; p < 1000; p += 10)
    distance += std::abs(static_cast<double>(a[p]) - static_cast<double>(a[p - 10])) / 99;
  EXPECT_GT(distance, 200);  // of blocks drawn at random: a third of 1000
}

TEST(MixBlocks, AvoidsMatesWhereItCan) {
  // Groups of two rows, in different blocks: a plain shuffle would put 6 % of them together.
  const std::size_t rows = 2048;
  GroupIds ids(rows);
  for (std::size_t i = 0; i < rows; ++i) ids[i] = static_cast<std::int64_t>(i % (rows / 2));
  const Groups groups(std::vector<GroupIds>{ids}, rows);
  std::vector<Vertex> order(rows);
  std::iota(order.begin(), order.end(), Vertex{0});
  const std::vector<Vertex> mixed = mix_blocks(order, 8, 128, groups, 3);
  EXPECT_TRUE(groups_apart({mixed.begin(), mixed.end() - 128}, 128, {ids}));
}

TEST(DrawShare, MovesThatShareOfEveryBatchAndNoOther) {
  Random random(4);
  for (std::size_t trial = 0; trial < 1000; ++trial) {
    const std::size_t size = 2 + random.below(20), rows = size + random.below(10 * size);
    const double share = static_cast<double>(random.below(11)) / 10;
    const std::vector<Vertex> order = shuffled_rows(rows, random);
    const std::vector<Vertex> drawn = draw_share(order, size, share, trial);
    ASSERT_TRUE(is_permutation_of(drawn, rows));
    for (std::size_t first = 0; first < rows; first += size) {
      const std::size_t here = std::min(size, rows - first);
      std::size_t changed = 0;
      for (std::size_t p = first; p < first + here; ++p) changed += order[p] != drawn[p];
      ASSERT_LE(changed, static_cast<std::size_t>(share * static_cast<double>(here) + 0.5));
    }
    if (share == 0) {
      ASSERT_EQ(drawn, order);
    }
  }
}

TEST(DrawShare, DrawsFromAllRows) {
  std::vector<Vertex> order(6400);
  std::iota(order.begin(), order.end(), Vertex{0});
  const std::vector<Vertex> drawn = draw_share(order, 64, 0.25, 7);
  std::size_t away = 0;
  for (std::size_t p = 0; p < order.size(); ++p) away += drawn[p] / 64 != p / 64;
  EXPECT_GT(away, 1540u);  // of 1,600 places 1 in 100 falls into its own batch again
  EXPECT_LE(away, 1600u);
}

TEST(ShuffleBatches, KeepsBatchesTogetherAndTheShortOneLast) {
  Random random(5);
  for (std::size_t trial = 0; trial < 500; ++trial) {
    const std::size_t size = 2 + random.below(9), rows = size + random.below(15 * size);
    const std::vector<Vertex> order = shuffled_rows(rows, random);
    const std::vector<Vertex> shuffled = shuffle_batches(order, size, 3, trial);
    std::multiset<std::set<Vertex>> before, after;
    for (std::size_t first = 0; first < rows; first += size) {
      before.insert(rows_of(order, first, size));
      after.insert(rows_of(shuffled, first, size));
    }
    ASSERT_EQ(before, after);
    if (rows % size > 0) {
      ASSERT_EQ(rows_of(order, rows - rows % size, size), rows_of(shuffled, rows - rows % size, size));
    }
  }
}

TEST(ShuffleBatches, IsAnotherInEveryEpoch) {
  std::vector<Vertex> order(200);
  std::iota(order.begin(), order.end(), Vertex{0});
  std::set<std::vector<Vertex>> seen;
  for (std::uint64_t epoch = 0; epoch < 50; ++epoch) seen.insert(shuffle_batches(order, 10, 1, epoch));
  EXPECT_EQ(seen.size(), 50u);
  EXPECT_EQ(shuffle_batches(order, 10, 1, 7), shuffle_batches(order, 10, 1, 7));
  EXPECT_NE(shuffle_batches(order, 10, 1, 7), shuffle_batches(order, 10, 2, 7));
}

}  // namespace
}  // namespace gcbs
