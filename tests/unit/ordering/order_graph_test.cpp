#include "ordering/order_graph.h"

#include <gtest/gtest.h>

#include "gcbs/error.h"
#include "support/graphs.h"

namespace gcbs {
namespace {

using testing::Drawing;

constexpr Method kAll[] = {Method::rcm, Method::cm, Method::chain, Method::random, Method::natural};

TEST(Method, HasOneNameEverywhere) {
  EXPECT_STREQ(name_of(Method::rcm), "rcm");
  EXPECT_STREQ(name_of(Method::cm), "cm");
  EXPECT_STREQ(name_of(Method::chain), "chain");
  EXPECT_STREQ(name_of(Method::random), "random");
  EXPECT_STREQ(name_of(Method::natural), "natural");
  for (const Method method : kAll) EXPECT_EQ(method_from(name_of(method)), method);
  for (const char* name : {"", "RCM", "rcm ", "metis"}) EXPECT_FALSE(method_from(name).has_value()) << name;
}

TEST(Method, SaysWhetherItReadsTheGraph) {
  for (const Method method : {Method::rcm, Method::cm, Method::chain}) EXPECT_TRUE(needs_graph(method));
  for (const Method method : {Method::random, Method::natural}) EXPECT_FALSE(needs_graph(method));
}

TEST(OrderGraph, EveryMethodGivesAPermutationForEveryThreadCount) {
  for (const Drawing& drawing : testing::draw_many()) {
    const Graph graph = testing::graph_of(drawing);
    for (const Method method : kAll) {
      OrderingOptions options;
      options.method = method;
      options.seed = 4;
      const std::vector<Vertex> order = order_graph(graph, options, RunContext{}).old_of_new;
      EXPECT_TRUE(testing::is_permutation_of(order, drawing.vertices)) << drawing.name;
      for (const unsigned threads : {2u, 3u, 7u}) {
        RunContext run;
        run.threads = threads;
        EXPECT_EQ(order_graph(graph, options, run).old_of_new, order) << drawing.name;
      }
    }
  }
}

TEST(OrderGraph, UsesTheSeed) {
  OrderingOptions options;
  options.method = Method::random;
  const Graph graph = empty_graph(50);
  const auto first = order_graph(graph, options, RunContext{}).old_of_new;
  options.seed = 1;
  EXPECT_NE(order_graph(graph, options, RunContext{}).old_of_new, first);
}

TEST(OrderGraph, RefusesAMethodThatIsNone) {
  OrderingOptions options;
  options.method = static_cast<Method>(77);
  EXPECT_STREQ(name_of(options.method), "unknown");
  EXPECT_THROW(order_graph(empty_graph(3), options, RunContext{}), Error);
}

TEST(OrderGraph, AllocatesNoMoreThanItSays) {
  for (const Drawing& drawing : {testing::draw_star(5000), testing::draw_random(5000, 3, 1)}) {
    const Graph graph = testing::graph_of(drawing);
    for (const Method method : kAll) {
      MemoryMeter meter;
      RunContext run;
      run.meter = &meter;
      OrderingOptions options;
      options.method = method;
      order_graph(graph, options, run);
      EXPECT_LE(meter.peak_bytes(), order_graph_bytes(drawing.vertices));
      EXPECT_EQ(meter.held_bytes(), 0u);
    }
  }
}

}  // namespace
}  // namespace gcbs
