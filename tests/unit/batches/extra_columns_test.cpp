// Extra columns against a definition that looks at every pair of rows.
#include "batches/extra_columns.h"

#include <gtest/gtest.h>

#include <map>

#include "base/elementary.h"
#include "group_cases.h"
#include "support/kernels.h"

namespace gcbs {
namespace {

using namespace testing;

constexpr double kTemperature = 0.1;

struct Weighted {
  Edges edges;
  Array<float> values;
  Array<double> log_sums;
};

/// Few distinct values, so that masses tie.
Weighted weigh(const Drawing& drawing, Random& random) {
  Weighted weighted{edges_of(drawing), {}, Array<double>(drawing.vertices)};
  weighted.values = Array<float>(weighted.edges.count());
  for (float& value : weighted.values) value = static_cast<float>(random.below(4)) / 8.0f;
  for (double& sum : weighted.log_sums) sum = 5 + static_cast<double>(random.below(3));
  return weighted;
}

std::vector<std::int64_t> naive_extras(const std::vector<Vertex>& members, const Weighted& weighted,
                                       std::size_t columns, const std::vector<GroupIds>& lists,
                                       const SuspectTest& test) {
  std::map<Vertex, double> mass;
  for (const Vertex i : members)
    for (EdgeIndex e = weighted.edges.offsets[i]; e < weighted.edges.offsets[i + 1]; ++e)
      mass[weighted.edges.columns[e]] +=
          exp_of(static_cast<double>(weighted.values[e]) / kTemperature - weighted.log_sums[i]);
  std::vector<Vertex> near = members;
  std::vector<std::int64_t> extras;
  while (extras.size() < columns) {
    double best = -1;
    Vertex chosen = 0;
    for (const auto& [column, weight] : mass) {
      if (!(weight > best)) continue;
      bool allowed = true;
      for (const Vertex row : near) {
        allowed = allowed && row != column;
        for (const GroupIds& ids : lists) allowed = allowed && ids[row] != ids[column];
      }
      for (const Vertex row : members) allowed = allowed && !(test && test(row, column));
      if (allowed) best = weight, chosen = column;
    }
    if (best < 0) break;
    extras.push_back(chosen);
    near.push_back(chosen);
  }
  extras.resize(columns, -1);
  return extras;
}

TEST(ExtraColumns, AreTheHeaviestThatAreAllowed) {
  Random random(1);
  std::size_t full = 0, short_ones = 0;
  for (std::size_t trial = 0; trial < (kSlowBuild ? 100u : 2000u); ++trial) {
    GroupCase c{20 + random.below(60), 2 + random.below(10), {}};
    const std::size_t lists = random.below(3), columns = 1 + random.below(6);
    for (std::size_t l = 0; l < lists; ++l) c.lists.push_back(feasible_ids(c.rows, c.batch_size, 12, random));
    const Drawing drawing = trial % 2 == 0 ? draw_skewed(c.rows, 5, trial) : draw_islands(c.rows, 4, trial);
    const Weighted weighted = weigh(drawing, random);
    const SuspectTest suspect = [](Vertex a, Vertex b) { return (a + b) % 13 == 0; };
    const SuspectTest test = trial % 3 == 0 ? suspect : SuspectTest();
    const std::vector<Vertex> order = shuffled_rows(c.rows, random);
    const Groups groups(c.lists, c.rows);
    const EdgeMass mass{weighted.edges, weighted.values, weighted.log_sums, kTemperature};
    for (const unsigned threads : {1u, 3u}) {
      const ExtraColumns extras =
          choose_extras(order, c.batch_size, mass, columns, groups, test, {threads, nullptr, nullptr});
      ASSERT_EQ(extras.batches, c.batches());
      ASSERT_EQ(extras.rows.size(), c.batches() * columns);
      for (std::size_t b = 0; b < c.batches(); ++b) {
        const std::size_t first = b * c.batch_size, last = std::min(c.rows, first + c.batch_size);
        const std::vector<Vertex> members(order.begin() + static_cast<std::ptrdiff_t>(first),
                                          order.begin() + static_cast<std::ptrdiff_t>(last));
        const std::int64_t* row = extras.rows.data() + b * columns;
        const std::vector<std::int64_t> found(row, row + columns);
        ASSERT_EQ(found, naive_extras(members, weighted, columns, c.lists, test)) << trial << " batch " << b;
        (found.back() < 0 ? short_ones : full) += 1;
      }
    }
  }
  EXPECT_GT(full, 100u);
  EXPECT_GT(short_ones, 100u);
}

TEST(ExtraColumns, WithoutMassAreNone) {
  // Both rows of the batch have an edge to 2; the share of the first is too small for a number.
  const Edges edges = edges_of(4, {{0, 2}, {1, 2}, {1, 3}});
  Array<float> values(3, 1.0f);
  Array<double> log_sums(4, 0.0);
  log_sums[0] = 5000;
  const EdgeMass mass{edges, values, log_sums, 1.0};
  const RunContext run{1, nullptr, nullptr};
  const std::vector<Vertex> order{0, 1, 2, 3};
  const ExtraColumns found = choose_extras(order, 2, mass, 3, {}, {}, run);
  EXPECT_EQ(std::vector<std::int64_t>(found.rows.begin(), found.rows.end()),
            (std::vector<std::int64_t>{2, 3, -1, -1, -1, -1}));
  log_sums[1] = 5000;
  const ExtraColumns none = choose_extras(order, 2, mass, 1, {}, {}, run);
  EXPECT_EQ(none.rows[0], -1);
}

}  // namespace
}  // namespace gcbs
