// The stage as a whole on thousands of random cases.
#include "batches/make_batches.h"

#include <gtest/gtest.h>

#include "gcbs/error.h"
#include "group_cases.h"
#include "support/kernels.h"

namespace gcbs {
namespace {

using namespace testing;

std::uint64_t pairs_in_batches(const std::vector<Vertex>& order, std::size_t size, const SuspectTest& test) {
  std::uint64_t count = 0;
  for (std::size_t first = 0; first < order.size(); first += size)
    for (std::size_t p = first; p < std::min(order.size(), first + size); ++p)
      for (std::size_t q = first; q < p; ++q) count += test(order[p], order[q]);
  return count;
}

MadeBatches made(const std::vector<Vertex>& order, const GroupCase& c, const BatchOptions& options,
                 std::uint64_t seed, const Graph* graph, const SuspectTest& test, unsigned threads) {
  const Groups groups(c.lists, c.rows);
  return make_batches(order, {c.batch_size, options, seed, groups, c.lists, graph, test},
                      {threads, nullptr, nullptr});
}

TEST(MakeBatches, HoldsEveryPromiseForAllOptionsAtOnce) {
  Random random(1);
  for (std::size_t trial = 0; trial < (kSlowBuild ? 200u : 4000u); ++trial) {
    GroupCase c;
    BatchOptions options;
    options.block = random.below(3) == 0 ? 0 : 1 + random.below(4);
    c.batch_size = options.block == 0 ? 2 + random.below(9) : options.block * (1 + random.below(4));
    c.batch_size = std::max<std::size_t>(c.batch_size, 2);
    if (c.batch_size % std::max<std::size_t>(options.block, 1) != 0) options.block = 1;
    c.rows = c.batch_size + random.below(14 * c.batch_size);
    const std::size_t shape = random.below(5);
    if (shape == 1) c.lists = {giant_ids(c.rows, c.batch_size, random)};
    if (shape == 2) c.lists = {feasible_ids(c.rows, c.batch_size, 0, random)};
    if (shape >= 3)
      for (std::size_t l = 0; l < shape - 1; ++l)
        c.lists.push_back(feasible_ids(c.rows, c.batch_size, 3 * c.batch_size, random));
    options.random_share = random.below(2) == 0 ? 0 : static_cast<double>(random.below(5)) / 4;
    if (random.below(2) == 0) options.epoch = random.below(4);
    const std::uint64_t salt = random.next();
    const SuspectTest suspect = [&](Vertex a, Vertex b) {
      return (std::uint64_t{std::min(a, b)} * 0x9E3779B97F4A7C15u + std::max(a, b) * salt) % 11 == 0;
    };
    const SuspectTest test = random.below(2) == 0 ? suspect : SuspectTest();
    const Drawing drawing = trial % 3 == 0 ? draw_skewed(c.rows, 6, trial) : draw_islands(c.rows, 4, trial);
    const Graph graph = graph_of(drawing);
    const Graph* edges = random.below(3) == 0 ? nullptr : &graph;
    const std::vector<Vertex> order = shuffled_rows(c.rows, random);

    const MadeBatches result = made(order, c, options, trial, edges, test, 1);
    ASSERT_TRUE(is_permutation_of(result.order, c.rows)) << trial;
    ASSERT_TRUE(groups_apart(result.order, c.batch_size, c.lists)) << trial;
    ASSERT_EQ(result.report.batches, c.batches());
    ASSERT_EQ(result.report.suspects_in_batch.has_value(), static_cast<bool>(test));
    if (test) {
      ASSERT_EQ(*result.report.suspects_in_batch, pairs_in_batches(result.order, c.batch_size, test));
    }
    if (c.lists.empty() && !test) {
      ASSERT_EQ(result.report.moved, 0u);
    }
    ASSERT_EQ(made(order, c, options, trial, edges, test, 3).order, result.order) << trial;
  }
}

TEST(MakeBatches, LeavesAnOrderAloneThatNothingIsAskedOf) {
  Random random(2);
  const GroupCase c{103, 10, {}};
  const std::vector<Vertex> order = shuffled_rows(c.rows, random);
  EXPECT_EQ(made(order, c, {}, 5, nullptr, {}, 1).order, order);
  BatchOptions whole;
  whole.block = 10;
  EXPECT_EQ(made(order, c, whole, 5, nullptr, {}, 1).order, order);
}

TEST(MakeBatches, LowersTheNumberOfSuspects) {
  Random random(3);
  const GroupCase c{1200, 16, {}};
  const std::vector<Vertex> order = shuffled_rows(c.rows, random);
  // Ten rows in a row suspect each other: together there are 600 pairs and more in a bad order.
  const SuspectTest test = [](Vertex a, Vertex b) { return a / 10 == b / 10; };
  std::vector<Vertex> bad(c.rows);
  std::iota(bad.begin(), bad.end(), Vertex{0});
  const std::uint64_t before = pairs_in_batches(bad, 16, test);
  const MadeBatches result = made(bad, c, {}, 1, nullptr, test, 2);
  EXPECT_LT(*result.report.suspects_in_batch, before / 3);
  EXPECT_GT(result.report.moved, 0u);
  EXPECT_LE(*made(order, c, {}, 1, nullptr, test, 2).report.suspects_in_batch,
            pairs_in_batches(order, 16, test));
}

TEST(MakeBatches, RefusesWhatIsWrongWhateverTheData) {
  const auto refused = [](BatchOptions options) {
    try {
      check_batch_options(options, 12);
      return false;
    } catch (const Error& error) {
      return error.kind() == ErrorKind::usage;
    }
  };
  BatchOptions options;
  for (const std::size_t block : {std::size_t{5}, std::size_t{24}}) {
    options.block = block;
    EXPECT_TRUE(refused(options));
  }
  for (const std::size_t block : {std::size_t{0}, std::size_t{1}, std::size_t{4}, std::size_t{12}}) {
    options.block = block;
    EXPECT_FALSE(refused(options));
  }
  for (const double share : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    options.random_share = share;
    EXPECT_TRUE(refused(options));
  }
}

}  // namespace
}  // namespace gcbs
