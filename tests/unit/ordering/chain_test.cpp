#include <gtest/gtest.h>

#include "ordering/orders.h"
#include "support/graphs.h"

namespace gcbs {
namespace {

using testing::Drawing;
using List = std::vector<Vertex>;

MeasuredOrder chain(const Drawing& drawing, bool paper_degrees = false, unsigned threads = 1) {
  OrderingOptions options;
  options.paper_degrees = paper_degrees;
  RunContext run;
  run.threads = threads;
  return order_chain(testing::graph_of(drawing, threads), options, run);
}

List chain_order(const Drawing& drawing) { return chain(drawing).order.old_of_new; }

TEST(Chain, OrdersDrawnGraphs) {
  EXPECT_EQ(chain_order(testing::draw_empty(0)), List());
  EXPECT_EQ(chain_order(testing::draw_empty(1)), List({0}));
  EXPECT_EQ(chain_order(testing::draw_empty(3)), List({0, 1, 2}));
  EXPECT_EQ(chain_order(testing::draw_path(5)), List({0, 1, 2, 3, 4}));
  // From leaf 2 the centre is taken: the search finds nothing, and the chain starts anew at 3.
  EXPECT_EQ(chain_order(testing::draw_star(5)), List({1, 0, 2, 3, 4}));
  // 0 1 2   down at once, since 3 has degree 2 and 1 has 3; at 4, the corner 5 comes before 1
  // 3 4 5
  EXPECT_EQ(chain_order(testing::draw_grid(3, 2)), List({0, 3, 4, 5, 2, 1}));
  EXPECT_EQ(chain_order(testing::draw_cliques({3, 2})), List({3, 4, 0, 1, 2}));
}

TEST(Chain, StartsAnewAtTheLeastDegreeLeft) {
  // 4 - 3 - 0 and 3 - 1 - 2: from 0 the chain goes to 3, then to 4 (degree 1), then is stuck.
  EXPECT_EQ(chain_order({"fork", 5, {{4, 3}, {3, 0}, {3, 1}, {1, 2}}}), List({0, 3, 4, 2, 1}));
}

TEST(Chain, EqualsAlgorithm1AsPrinted) {
  for (const Drawing& drawing : testing::draw_many())
    for (const bool paper_degrees : {false, true}) {
      const List expected = naive_chain(drawing, paper_degrees);
      ASSERT_TRUE(testing::is_permutation_of(expected, drawing.vertices)) << drawing.name;
      for (const unsigned threads : {1u, 2u, 3u, 7u})
        EXPECT_EQ(chain(drawing, paper_degrees, threads).order.old_of_new, expected)
            << drawing.name << ", threads " << threads << ", paper degrees " << paper_degrees;
    }
}

TEST(Chain, ScansEveryListOnce) {
  for (const Drawing& drawing :
       {testing::draw_star(10'000), testing::draw_two_hubs(10'000), testing::draw_cliques({50, 3, 200})})
    EXPECT_EQ(chain(drawing).work.edges_scanned, 2 * drawing.pairs.size()) << drawing.name;
}

}  // namespace
}  // namespace gcbs
