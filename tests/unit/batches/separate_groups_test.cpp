// Thousands of random cases: permutation kept, sizes kept, groups apart, few rows moved; and errors exactly
// where an exhaustive search finds nothing.
#include "batches/separate_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "gcbs/error.h"
#include "group_cases.h"
#include "support/kernels.h"

namespace gcbs {
namespace {

using namespace testing;
const RunContext kRun{2, nullptr, nullptr};

std::vector<Vertex> separated(const GroupCase& c, const std::vector<Vertex>& order,
                              const Graph* graph = nullptr) {
  const Groups groups(c.lists, c.rows);
  Seating seating(order, c.batch_size, groups, graph, kRun);
  separate_groups(seating, c.lists, c.batch_size, kRun);
  return seating.take();
}

std::size_t changed_batches(const std::vector<Vertex>& before, const std::vector<Vertex>& after,
                            std::size_t k) {
  std::vector<std::size_t> batch(before.size());
  for (std::size_t p = 0; p < before.size(); ++p) batch[before[p]] = p / k;
  std::size_t changed = 0;
  for (std::size_t p = 0; p < after.size(); ++p) changed += batch[after[p]] != p / k;
  return changed;
}

/// Rows too many: of each batch and group all but one.
std::size_t excess(const std::vector<Vertex>& order, std::size_t k, const GroupIds& ids) {
  std::size_t sum = 0;
  for (std::size_t first = 0; first < order.size(); first += k) {
    std::map<std::int64_t, std::size_t> counts;
    for (std::size_t p = first; p < std::min(order.size(), first + k); ++p)
      sum += counts[ids[order[p]]]++ > 0;
  }
  return sum;
}

GroupCase draw_case(Random& random, std::size_t shape) {
  GroupCase c;
  c.batch_size = 2 + random.below(9);
  c.rows = c.batch_size + random.below(12 * c.batch_size);
  switch (shape) {
    case 0: c.lists = {feasible_ids(c.rows, c.batch_size, 0, random)}; break;
    case 1: c.lists = {feasible_ids(c.rows, c.batch_size, 1 + random.below(4), random)}; break;
    case 2: c.lists = {giant_ids(c.rows, c.batch_size, random)}; break;
    default: c.lists = {feasible_ids(c.rows, c.batch_size, c.rows, random)}; break;
  }
  return c;
}

TEST(SeparateGroups, KeepsOneListApartWheneverThatIsPossible) {
  Random random(1);
  for (std::size_t trial = 0; trial < (kSlowBuild ? 400u : 8000u); ++trial) {
    GroupCase c = draw_case(random, trial % 4);
    if (trial % 3 == 0) c.lists = {permuted(c.lists[0], random)};
    // Sorted by id is the worst order there is: batches of one group each.
    std::vector<Vertex> order = shuffled_rows(c.rows, random);
    if (trial % 5 == 0)
      std::stable_sort(order.begin(), order.end(),
                       [&](Vertex a, Vertex b) { return c.lists[0][a] < c.lists[0][b]; });
    Graph graph;
    if (trial % 2 == 0) graph = graph_of(draw_skewed(c.rows, 5, trial));
    const std::vector<Vertex> result = separated(c, order, trial % 2 == 0 ? &graph : nullptr);
    ASSERT_TRUE(is_permutation_of(result, c.rows)) << trial;
    ASSERT_TRUE(groups_apart(result, c.batch_size, c.lists)) << trial;
  }
}

TEST(SeparateGroups, MovesNothingWhereNothingIsWrong) {
  Random random(2);
  for (std::size_t trial = 0; trial < 200; ++trial) {
    const GroupCase c = draw_case(random, trial % 2);
    std::vector<Vertex> order(c.rows);
    std::iota(order.begin(), order.end(), Vertex{0});
    ASSERT_EQ(separated(c, order), order);
  }
}

TEST(SeparateGroups, MovesAtMostTwoRowsForEachRowTooManyWhereThereIsRoom) {
  Random random(3);
  for (std::size_t trial = 0; trial < 300; ++trial) {
    GroupCase c{400 + random.below(60), 8, {}};
    c.lists = {GroupIds(c.rows)};
    for (std::size_t i = 0; i < c.rows; ++i)
      c.lists[0][i] = static_cast<std::int64_t>(random.below(c.rows / 4));
    const std::vector<Vertex> order = shuffled_rows(c.rows, random);
    const std::vector<Vertex> result = separated(c, order);
    ASSERT_TRUE(groups_apart(result, c.batch_size, c.lists));
    EXPECT_LE(changed_batches(order, result, c.batch_size), 2 * excess(order, c.batch_size, c.lists[0]));
  }
}

TEST(SeparateGroups, PrefersPartnersThatLoseFewEdges) {
  // Batches of 4: {0 1 2 3}, {4 5 6 7}, {8 9 10 11}. 0 and 3 are mates. 3 has edges into the last batch,
  // where 11 is isolated; the near batch is a clique.
  Drawing drawing{"swap", 12, {}};
  for (const auto& clique : {std::vector<Vertex>{0, 1, 2}, {4, 5, 6, 7}, {8, 9, 10}, {3, 8, 9, 10}})
    for (const Vertex a : clique)
      for (const Vertex b : clique)
        if (a != b) drawing.pairs.push_back({a, b});
  GroupCase c{12, 4, {{0, 1, 2, 0, 4, 5, 6, 7, 8, 9, 10, 11}}};
  std::vector<Vertex> order(12);
  std::iota(order.begin(), order.end(), Vertex{0});
  const Graph graph = graph_of(drawing);
  EXPECT_THAT(separated(c, order, &graph), ::testing::ElementsAre(0, 1, 2, 11, 4, 5, 6, 7, 8, 9, 10, 3));
}

TEST(SeparateGroups, SeveralListsWithSomeRoom) {
  Random random(4);
  for (std::size_t trial = 0; trial < (kSlowBuild ? 50u : 1500u); ++trial) {
    GroupCase c;
    c.batch_size = 2 + random.below(7);
    c.rows = 4 * c.batch_size + random.below(12 * c.batch_size);
    const std::size_t lists = 2 + random.below(3);
    for (std::size_t l = 0; l < lists; ++l)
      c.lists.push_back(
          feasible_ids(c.rows, c.batch_size, 2 * c.batch_size + random.below(c.batch_size), random));
    const std::vector<Vertex> order = shuffled_rows(c.rows, random);
    const std::vector<Vertex> result = separated(c, order);
    ASSERT_TRUE(is_permutation_of(result, c.rows)) << trial;
    ASSERT_TRUE(groups_apart(result, c.batch_size, c.lists)) << trial;
  }
}

/// Tries every way to seat rows, one after the other.
bool can_be_apart(const GroupCase& c) {
  std::vector<std::vector<Vertex>> batches(c.batches());
  const std::function<bool(Vertex)> seat = [&](Vertex row) {
    if (row == c.rows) return true;
    for (std::size_t b = 0; b < batches.size(); ++b) {
      const std::size_t size = std::min(c.batch_size, c.rows - b * c.batch_size);
      const auto mate = [&](Vertex other) {
        return std::any_of(c.lists.begin(), c.lists.end(),
                           [&](const GroupIds& ids) { return ids[other] == ids[row]; });
      };
      if (batches[b].size() == size || std::any_of(batches[b].begin(), batches[b].end(), mate)) continue;
      batches[b].push_back(row);
      if (seat(row + 1)) return true;
      batches[b].pop_back();
    }
    return false;
  };
  return seat(0);
}

TEST(SeparateGroups, FailsExactlyWhereEverySeatingFails) {
  Random random(5);
  std::size_t possible = 0, impossible = 0;
  for (std::size_t trial = 0; trial < 4000; ++trial) {
    GroupCase c{3 + random.below(7), 2 + random.below(3), {}};
    c.batch_size = std::min(c.batch_size, c.rows);
    for (std::size_t l = 0; l <= trial % 2; ++l) {
      c.lists.push_back(GroupIds(c.rows));
      for (std::int64_t& id : c.lists.back())
        id = static_cast<std::int64_t>(random.below(2 + random.below(6)));
    }
    const std::vector<Vertex> order = shuffled_rows(c.rows, random);
    if (can_be_apart(c)) {
      ++possible;
      ASSERT_TRUE(groups_apart(separated(c, order), c.batch_size, c.lists)) << trial;
    } else if (c.lists.size() == 1 || impossible < 300) {  // a search that must fail takes a while
      ++impossible;
      ASSERT_THROW(separated(c, order), Error) << trial;
    }
  }
  EXPECT_GT(possible, 300u);
  EXPECT_GT(impossible, 300u);
}

TEST(SeparateGroups, ErrorsNameTheGroup) {
  const GroupCase c{6, 2, {{9, 9, 9, 9, 1, 2}}};
  try {
    separated(c, {0, 1, 2, 3, 4, 5});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("group 9, which has 4 rows"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("3 batches"));
  }
}

TEST(SeparateGroups, StopsWhenAsked) {
  struct Stop : Observer {
    bool stop_requested() noexcept override { return true; }
  } stop;
  const GroupCase c{6, 2, {{1, 1, 2, 2, 3, 3}}};
  const Groups groups(c.lists, c.rows);
  Seating seating({0, 1, 2, 3, 4, 5}, 2, groups, nullptr, kRun);
  EXPECT_THROW(separate_groups(seating, c.lists, 2, {1, &stop, nullptr}), Error);
}

}  // namespace
}  // namespace gcbs
