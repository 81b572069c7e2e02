#include "graph/neighbours.h"

#include <gtest/gtest.h>

#include "support/graphs.h"

namespace gcbs {
namespace {

using List = std::vector<Vertex>;

List merge(const List& a, const List& b) {
  List merged;
  for_each_merged(a, b, [&](Vertex v) { merged.push_back(v); });
  return merged;
}

TEST(ForEachMerged, MeetsEachEntryOnceAscending) {
  EXPECT_EQ(merge({}, {}), List());
  EXPECT_EQ(merge({1, 4}, {}), List({1, 4}));
  EXPECT_EQ(merge({}, {2}), List({2}));
  EXPECT_EQ(merge({1, 3, 5}, {2, 3, 6, 7}), List({1, 2, 3, 5, 6, 7}));
  EXPECT_EQ(merge({0, 4294967294u}, {0, 4294967294u}), List({0, 4294967294u}));
}

TEST(CountShared, CountsCommonEntries) {
  EXPECT_EQ(count_shared(List{}, List{1}), 0u);
  EXPECT_EQ(count_shared(List{1, 3, 5}, List{2, 4, 6}), 0u);
  EXPECT_EQ(count_shared(List{1, 3, 5}, List{1, 3, 5}), 3u);
  EXPECT_EQ(count_shared(List{0, 3, 5, 9}, List{3, 4, 9, 10, 11}), 2u);
}

TEST(ForEachNeighbour, EqualsTheReference) {
  for (const testing::Drawing& drawing : testing::draw_many()) {
    const Graph graph = testing::graph_of(drawing);
    const auto expected = naive_neighbours(drawing);
    for (Vertex v = 0; v < drawing.vertices; ++v) {
      List met;
      for_each_neighbour(graph, v, [&](Vertex u) { met.push_back(u); });
      EXPECT_EQ(met, List(expected[v].begin(), expected[v].end())) << drawing.name << ", vertex " << v;
    }
  }
}

}  // namespace
}  // namespace gcbs
