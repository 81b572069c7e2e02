#include "ordering/degree_ranks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/graphs.h"

namespace gcbs {
namespace {

TEST(RankByDegree, SortsByDegreeThenIndex) {
  for (const testing::Drawing& drawing : testing::draw_many())
    for (const bool paper_degrees : {false, true}) {
      OrderingOptions options;
      options.paper_degrees = paper_degrees;
      const DegreeRanks ranks = rank_by_degree(testing::graph_of(drawing), options, RunContext{});
      std::vector<std::pair<std::size_t, Vertex>> expected;
      for (const std::size_t degree : naive_degrees(drawing, paper_degrees))
        expected.emplace_back(degree, static_cast<Vertex>(expected.size()));
      std::sort(expected.begin(), expected.end());
      ASSERT_EQ(ranks.rank_of.size(), drawing.vertices);
      for (Vertex rank = 0; rank < drawing.vertices; ++rank) {
        EXPECT_EQ(ranks.vertex_at[rank], expected[rank].second) << drawing.name;
        EXPECT_EQ(ranks.rank_of[ranks.vertex_at[rank]], rank) << drawing.name;
      }
    }
}

}  // namespace
}  // namespace gcbs
