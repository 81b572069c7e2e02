#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "gcbs/batches.h"
#include "gcbs/error.h"

namespace gcbs {
namespace {

std::vector<std::int64_t> natural(std::size_t rows) {
  std::vector<std::int64_t> order(rows);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return order;
}

bool is_permutation_of_rows(const Order& order) {
  std::vector<Vertex> sorted = order.old_of_new;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != i) return false;
  return true;
}

TEST(ArrangeBatches, WithoutOptionsTheOrderStays) {
  const ArrangedBatches made = arrange_batches(natural(11), 4, {}, {}, 0);
  EXPECT_EQ(made.order.old_of_new, (std::vector<Vertex>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_EQ(made.report.batches, 3u);
}

TEST(ArrangeBatches, KeepsGroupsApart) {
  std::vector<std::int64_t> ids(60);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int64_t>(i / 4);
  const ArrangedBatches made = arrange_batches(natural(60), 10, {ids}, {}, 3);
  EXPECT_TRUE(is_permutation_of_rows(made.order));
  EXPECT_GT(made.report.moved, 0u);
  for (std::size_t first = 0; first < 60; first += 10) {
    std::set<std::int64_t> seen;
    for (std::size_t p = first; p < first + 10; ++p)
      EXPECT_TRUE(seen.insert(ids[made.order.old_of_new[p]]).second) << "batch " << first / 10;
  }
}

TEST(ArrangeBatches, BlocksStayTogether) {
  BatchOptions options;
  options.block = 4;
  const ArrangedBatches made = arrange_batches(natural(64), 16, {}, options, 5);
  EXPECT_TRUE(is_permutation_of_rows(made.order));
  for (std::size_t p = 0; p < 64; p += 4)
    for (std::size_t r = 1; r < 4; ++r)
      EXPECT_EQ(made.order.old_of_new[p] / 4, made.order.old_of_new[p + r] / 4);
  EXPECT_NE(made.order.old_of_new, arrange_batches(natural(64), 16, {}, {}, 5).order.old_of_new);
}

TEST(ArrangeBatches, AnEpochChangesTheSequenceOfWholeBatches) {
  BatchOptions options;
  const auto sets = [](const Order& order) {
    std::set<std::set<Vertex>> batches;
    for (std::size_t p = 0; p < order.old_of_new.size(); p += 8)
      batches.insert({order.old_of_new.begin() + static_cast<std::ptrdiff_t>(p),
                      order.old_of_new.begin() + static_cast<std::ptrdiff_t>(p + 8)});
    return batches;
  };
  options.epoch = 1;
  const Order one = arrange_batches(natural(80), 8, {}, options, 0).order;
  options.epoch = 2;
  const Order two = arrange_batches(natural(80), 8, {}, options, 0).order;
  EXPECT_NE(one.old_of_new, two.old_of_new);
  EXPECT_EQ(sets(one), sets(two));
}

TEST(ArrangeBatches, SaysWhatIsWrong) {
  const std::vector<std::int64_t> twice{0, 1, 1, 3};
  EXPECT_THROW(arrange_batches(twice, 2, {}, {}, 0), Error);
  EXPECT_THROW(arrange_batches(natural(4), 0, {}, {}, 0), Error);
  const std::vector<std::int64_t> same(4, 7), few(3, 7);
  EXPECT_THROW(arrange_batches(natural(4), 2, {same}, {}, 0), Error);
  EXPECT_THROW(arrange_batches(natural(4), 2, {few}, {}, 0), Error);
}

}  // namespace
}  // namespace gcbs
