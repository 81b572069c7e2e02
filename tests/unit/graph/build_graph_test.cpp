#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "gcbs/error.h"
#include "graph/graph.h"
#include "support/graphs.h"

namespace gcbs {
namespace {

using testing::draw_many;
using testing::Drawing;
using testing::edges_of;
using testing::Pairs;

Pairs pairs_in(const Edges& edges) {
  Pairs pairs;
  for (std::size_t row = 0; row < edges.rows(); ++row)
    for (const Vertex column : edges.row(row)) pairs.emplace_back(static_cast<Vertex>(row), column);
  return pairs;
}

/// Row by row in the order stored, which the comparison keeps.
Pairs naive_transpose(const Edges& edges) {
  Pairs pairs = pairs_in(edges);
  for (auto& [row, column] : pairs) std::swap(row, column);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

Graph build_with(Edges edges, unsigned threads) {
  RunContext run;
  run.threads = threads;
  return build_graph(std::move(edges), run);
}

TEST(BuildGraph, HoldsTheEdgesAndTheirTranspose) {
  for (const Drawing& drawing : draw_many())
    for (const unsigned threads : {1u, 2u, 3u, 7u, 40u}) {
      const Edges edges = edges_of(drawing);
      const Graph graph = build_with(edges_of(drawing), threads);
      ASSERT_EQ(graph.vertices(), drawing.vertices) << drawing.name;
      ASSERT_EQ(graph.in.rows(), drawing.vertices) << drawing.name;
      EXPECT_EQ(pairs_in(graph.out), pairs_in(edges)) << drawing.name;
      EXPECT_EQ(pairs_in(graph.in), naive_transpose(edges)) << drawing.name << ", threads " << threads;
    }
}

TEST(BuildGraph, GoesThroughSeveralBlocksOfColumns) {
  // Three blocks, the first two of 16,384 columns: dense enough (20 a row) that they are not widened.
  const Drawing drawing = testing::draw_random(40'000, 20, 5);
  const Graph graph = build_with(edges_of(drawing), 3);
  EXPECT_TRUE(pairs_in(graph.in) == naive_transpose(graph.out));
}

TEST(BuildGraph, AllocatesWhatItSays) {
  const Drawing drawing = testing::draw_random(1000, 10, 3);
  for (const unsigned threads : {1u, 2u, 7u, 40u}) {
    Edges edges = edges_of(drawing);
    const EdgeIndex count = edges.count();
    MemoryMeter meter;
    RunContext run;
    run.threads = threads;
    run.meter = &meter;
    const Graph graph = build_graph(std::move(edges), run);
    EXPECT_EQ(meter.peak_bytes(), build_graph_bytes(1000, count, threads));
    EXPECT_EQ(meter.held_bytes(), 4 * count + 8 * 1001) << "only the transpose stays";
  }
}

TEST(BuildGraph, RefusesBrokenEdges) {
  const auto kind_of_failure = [](Edges edges) {
    try {
      build_with(std::move(edges), 2);
    } catch (const Error& error) {
      return name_of(error.kind());
    }
    return "none";
  };
  const auto make = [] { return edges_of(3, {{0, 1}, {0, 2}, {1, 0}, {2, 1}}); };
  EXPECT_STREQ(kind_of_failure(make()), "none");

  Edges descending = make();
  std::swap(descending.columns[0], descending.columns[1]);
  EXPECT_STREQ(kind_of_failure(std::move(descending)), "internal");
  Edges repeated = make();
  repeated.columns[0] = repeated.columns[1];
  EXPECT_STREQ(kind_of_failure(std::move(repeated)), "internal");
  Edges outside = make();
  outside.columns[3] = 3;
  EXPECT_STREQ(kind_of_failure(std::move(outside)), "internal");
  Edges offsets_descend = make();
  offsets_descend.offsets[1] = 4;
  EXPECT_STREQ(kind_of_failure(std::move(offsets_descend)), "internal");
  Edges offsets_short = make();
  offsets_short.offsets[3] = 3;
  EXPECT_STREQ(kind_of_failure(std::move(offsets_short)), "internal");
}

struct StopAtOnce : Observer {
  bool stop_requested() noexcept override { return true; }
};

TEST(BuildGraph, StopsWhenAsked) {
  StopAtOnce observer;
  RunContext run;
  run.observer = &observer;
  try {
    build_graph(edges_of(testing::draw_path(10)), run);
    FAIL() << "did not stop";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
}

TEST(EmptyGraph, HasVerticesAndNoEdge) {
  for (const std::size_t vertices : {0u, 1u, 5u}) {
    const Graph graph = empty_graph(vertices);
    EXPECT_EQ(graph.vertices(), vertices);
    EXPECT_EQ(graph.out.count() + graph.in.count(), 0u);
    for (std::size_t v = 0; v < vertices; ++v) EXPECT_TRUE(graph.in.row(v).empty());
  }
}

}  // namespace
}  // namespace gcbs
