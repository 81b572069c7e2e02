#include <gtest/gtest.h>

#include <algorithm>

#include "ordering/orders.h"
#include "support/graphs.h"

namespace gcbs {
namespace {

using testing::Drawing;
using List = std::vector<Vertex>;

List rcm_order(const Drawing& drawing, bool paper_degrees = false, unsigned threads = 1) {
  OrderingOptions options;
  options.paper_degrees = paper_degrees;
  RunContext run;
  run.threads = threads;
  return order_rcm(testing::graph_of(drawing, threads), options, run).order.old_of_new;
}

TEST(Rcm, OrdersDrawnGraphs) {
  EXPECT_EQ(rcm_order(testing::draw_empty(0)), List());
  EXPECT_EQ(rcm_order(testing::draw_empty(1)), List({0}));
  EXPECT_EQ(rcm_order(testing::draw_empty(3)), List({2, 1, 0}));
  EXPECT_EQ(rcm_order(testing::draw_path(5)), List({4, 3, 2, 1, 0}));
  EXPECT_EQ(rcm_order(testing::draw_star(5)), List({4, 3, 2, 0, 1}));
  EXPECT_EQ(rcm_order(testing::draw_cliques({3, 2})), List({2, 1, 0, 4, 3}));
}

TEST(Rcm, EqualsTheReferenceForEveryThreadCount) {
  for (const Drawing& drawing : testing::draw_many())
    for (const bool paper_degrees : {false, true}) {
      List expected = naive_cm(drawing, paper_degrees);
      std::reverse(expected.begin(), expected.end());
      ASSERT_TRUE(testing::is_permutation_of(expected, drawing.vertices)) << drawing.name;
      for (const unsigned threads : {1u, 2u, 3u, 7u})
        EXPECT_EQ(rcm_order(drawing, paper_degrees, threads), expected)
            << drawing.name << ", threads " << threads << ", paper degrees " << paper_degrees;
    }
}

TEST(Rcm, BringsAShuffledBandBack) {
  // A path whose vertices are numbered at random: bandwidth 1 is the best there is, and rcm finds it.
  const std::size_t n = 500;
  Drawing drawing{"shuffled path", n, {}};
  const List name = order_random(n, 11).old_of_new;
  for (std::size_t v = 1; v < n; ++v) drawing.pairs.emplace_back(name[v - 1], name[v]);
  const List order = rcm_order(drawing);
  List position(n);
  for (Vertex p = 0; p < n; ++p) position[order[p]] = p;
  for (const auto& [a, b] : drawing.pairs)
    EXPECT_EQ(std::max(position[a], position[b]) - std::min(position[a], position[b]), 1u);
}

}  // namespace
}  // namespace gcbs
