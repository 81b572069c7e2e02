// What cm promises beyond its definition; rcm_test.cpp has the definition, the reverse of this order.
#include <gtest/gtest.h>

#include <cmath>

#include "gcbs/error.h"
#include "ordering/orders.h"
#include "support/graphs.h"

namespace gcbs {
namespace {

using testing::Drawing;
using List = std::vector<Vertex>;

MeasuredOrder cm(const Drawing& drawing, bool paper_degrees = false, unsigned threads = 1) {
  OrderingOptions options;
  options.paper_degrees = paper_degrees;
  RunContext run;
  run.threads = threads;
  return order_cm(testing::graph_of(drawing), options, run);
}

List cm_order(const Drawing& drawing, bool paper_degrees = false) {
  return cm(drawing, paper_degrees).order.old_of_new;
}

TEST(Cm, OrdersDrawnGraphs) {
  EXPECT_EQ(cm_order(testing::draw_empty(0)), List());
  EXPECT_EQ(cm_order(testing::draw_empty(1)), List({0}));
  EXPECT_EQ(cm_order(testing::draw_empty(3)), List({0, 1, 2}));
  EXPECT_EQ(cm_order(testing::draw_path(5)), List({0, 1, 2, 3, 4}));
  // A leaf starts, not the centre.
  EXPECT_EQ(cm_order(testing::draw_star(5)), List({1, 0, 2, 3, 4}));
  EXPECT_EQ(cm_order(testing::draw_two_hubs(5)), List({2, 0, 1, 3, 4}));
  // 0 1 2   corners have degree 2 and come before the middle column
  // 3 4 5
  EXPECT_EQ(cm_order(testing::draw_grid(3, 2)), List({0, 3, 1, 4, 2, 5}));
  // The clique of two has the lesser degree.
  EXPECT_EQ(cm_order(testing::draw_cliques({3, 2})), List({3, 4, 0, 1, 2}));
}

TEST(Cm, IsolatedVerticesComeFirst) {
  EXPECT_EQ(cm_order({"isolated 0 and 3", 5, {{1, 2}, {2, 4}}}), List({0, 3, 1, 2, 4}));
}

TEST(Cm, AnEdgeInBothDirectionsIsOneEdge) {
  // Counted twice, 0 would have degree 2 and 2 would be the start.
  EXPECT_EQ(cm_order({"drawn", 4, {{0, 1}, {1, 0}, {2, 3}}}), List({0, 1, 2, 3}));
}

TEST(Cm, NeighboursGoByDegreeThenIndex) {
  // 0 - 1; 1 - 2, 3, 4; 2 - 5, 6; 4 - 7: degrees of 1's neighbours 2, 3, 4 are 3, 1, 2.
  const Drawing drawing{"tree", 8, {{0, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 5}, {2, 6}, {4, 7}}};
  EXPECT_EQ(cm_order(drawing), List({0, 1, 3, 4, 2, 7, 5, 6}));
}

TEST(Cm, PaperDegreesCountTheDiagonalTwice) {
  const Drawing drawing{"loop at 0, edge 1 - 2", 3, {{0, 0}, {1, 2}}};
  EXPECT_EQ(cm_order(drawing, false), List({0, 1, 2}));
  EXPECT_EQ(cm_order(drawing, true), List({1, 2, 0}));
}

TEST(Cm, KeepsComponentsTogether) {
  for (const Drawing& drawing : testing::draw_many()) {
    const List order = cm_order(drawing), component = naive_components(drawing);
    std::set<Vertex> entered;
    for (std::size_t p = 0; p < order.size(); ++p)
      if (p == 0 || component[order[p]] != component[order[p - 1]]) {
        EXPECT_TRUE(entered.insert(component[order[p]]).second)
            << drawing.name << ": component of " << order[p] << " is entered twice";
      }
  }
}

// Work is counted, not timed. Once a vertex has been seen it is never sorted or moved again, so that
// comparisons stay under 2 N log2 N and scans under two a directed edge, hubs or not.
void expect_linear_work(const Drawing& drawing) {
  const OrderingWork work = cm(drawing).work;
  const auto n = static_cast<double>(drawing.vertices);
  EXPECT_LE(work.edges_scanned, 2 * drawing.pairs.size()) << drawing.name;
  EXPECT_LE(static_cast<double>(work.comparisons), 2 * n * std::log2(n)) << drawing.name;
}

TEST(Cm, WorkGrowsWithTheEdgesOnHubs) {
  for (const std::size_t vertices : {100u, 1000u, 10'000u, 200'000u}) {
    expect_linear_work(testing::draw_star(vertices));
    expect_linear_work(testing::draw_two_hubs(vertices));
  }
  for (const std::size_t vertices : {1000u, 20'000u}) {
    expect_linear_work(testing::draw_skewed(vertices, 4, vertices));
    expect_linear_work(testing::draw_islands(vertices, 2, vertices));
  }
}

TEST(Cm, ScansNothingOnceEveryVertexHasBeenSeen) {
  // The first vertex of a clique sees it whole: of 2 x 200 x 199 entries, 2 x 199 are read.
  EXPECT_EQ(cm(testing::draw_cliques({200})).work.edges_scanned, 398u);
}

struct StopLater : Observer {
  int advances = 0;
  double done = 0, total = 0;
  bool stop = false;
  void advance(double now, double all) override {
    EXPECT_GE(now, done);
    EXPECT_LE(now, all);
    ++advances;
    done = now;
    total = all;
  }
  bool stop_requested() noexcept override { return stop && advances > 0; }
};

TEST(Cm, ReportsProgressAndStopsWhenAsked) {
  const Drawing drawing = testing::draw_cliques({650, 650, 650, 650});  // 2^21 entries to scan and more
  const Graph graph = testing::graph_of(drawing);
  StopLater observer;
  RunContext run;
  run.observer = &observer;
  for (const auto algorithm : {order_cm, order_rcm, order_chain}) {
    observer = {};
    algorithm(graph, {}, run);
    EXPECT_GE(observer.advances, 1);
    EXPECT_EQ(observer.total, 2600);
    observer = {};
    observer.stop = true;
    try {
      algorithm(graph, {}, run);
      FAIL() << "did not stop";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::interrupted);
    }
  }
}

}  // namespace
}  // namespace gcbs
