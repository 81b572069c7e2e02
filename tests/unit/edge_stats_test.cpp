// What an order does with the kept edges, counted edge by edge.
#include "edge_stats.h"

#include <gtest/gtest.h>

#include "unit/loss/brute_force.h"

namespace gcbs {
namespace {

using namespace testing;

Edges edges_of(const Data& data, double quantile, bool keep_diagonal = false) {
  SimilarityOptions options;
  options.keep_diagonal = keep_diagonal;
  return find_edges(data.rows_x, data.rows_y, quantile, options, kScalarKernel, data.run,
                    [](std::string_view) {})
      .edges;
}

void expect_stats(const Data& data, const Edges& edges, const LossModel& model, const Kernel& kernel) {
  const std::size_t n = data.x.rows;
  const std::vector<double> all = all_similarities(data.x, data.y);
  const Outranking outranking(edges, model, kernel, data.run);
  EdgeIndex e = 0, outranked = 0;
  for (const auto& [i, j] : listed(edges)) {
    const bool beats = all[i * n + j] > all[i * n + i];
    ASSERT_EQ(outranking.at(e++), beats) << i << " " << j;
    outranked += beats;
  }
  ASSERT_EQ(outranking.share().has_value(), e > 0);
  if (e > 0) {
    ASSERT_EQ(*outranking.share(), static_cast<double>(outranked) / static_cast<double>(e));
  }
  for (const std::uint64_t seed : {0u, 1u})
    for (const std::size_t size : {std::size_t{2}, std::size_t{7}, n}) {
      const std::vector<Vertex> order = seed == 0 ? in_order(n) : shuffled(n, seed);
      std::vector<std::uint64_t> position(n);
      for (std::size_t p = 0; p < n; ++p) position[order[p]] = p;
      EdgeIndex in_batch = 0, hard = 0;
      std::uint64_t bandwidth = 0;
      for (const auto& [i, j] : listed(edges)) {
        const std::uint64_t a = std::min(position[i], position[j]), b = std::max(position[i], position[j]);
        bandwidth = std::max(bandwidth, b - a);
        if (a / size != b / size) continue;
        ++in_batch;
        hard += all[i * n + j] > all[i * n + i];
      }
      const EdgeStats stats = edge_stats(edges, outranking, order, size, data.run);
      ASSERT_EQ(stats.bandwidth, bandwidth);
      ASSERT_EQ(stats.in_batch, in_batch);
      ASSERT_EQ(stats.outranking_in_batch.has_value(), in_batch > 0);
      if (in_batch > 0) {
        ASSERT_EQ(*stats.outranking_in_batch, static_cast<double>(hard) / static_cast<double>(in_batch));
      }
    }
}

TEST(EdgeStats, AreThoseOfTheDefinition) {
  for (const std::string& kind : kinds_of_matrices())
    for (const unsigned threads : {1u, 3u})
      for (const std::size_t largest_table : {1024u, 0u}) {
        SCOPED_TRACE(kind + (largest_table == 0 ? ", dense" : ", table"));
        const Data data(kind, 70, 12, threads);
        const LossModel model(data.rows_x, data.rows_y, nullptr, {}, kernel_for(choose_isa()), data.run,
                              largest_table);
        for (const bool diagonal : {false, true})
          for (const double quantile : {0.0, 0.8, 0.97})
            expect_stats(data, edges_of(data, quantile, diagonal), model, kernel_for(choose_isa()));
        if (HasFailure()) return;
      }
}

TEST(EdgeStats, AreTheSameForEveryKernel) {
  const Data data("nearly", 60, 33);  // ties and near ties: the bounds decide little
  const Edges edges = edges_of(data, 0.5);
  for (const NamedKernel& kernel : runnable_kernels()) {
    SCOPED_TRACE(kernel.name);
    const LossModel model(data.rows_x, data.rows_y, nullptr, {}, *kernel.kernel, data.run, 0);
    expect_stats(data, edges, model, *kernel.kernel);
  }
}

TEST(EdgeStats, OfRowsWithMoreEdgesThanAreAskedAtOnce) {
  if (kSlowBuild) GTEST_SKIP() << "one long row is as good elsewhere";
  constexpr std::size_t kRows = 4300;  // 4,096 at once
  const Data data("rand", kRows, 3, 2);
  Edges edges{Array<EdgeIndex>(kRows + 1, EdgeIndex{kRows}), Array<Vertex>(kRows)};
  edges.offsets[0] = 0;
  for (std::size_t j = 0; j < kRows; ++j) edges.columns[j] = static_cast<Vertex>(j);
  const LossModel model(data.rows_x, data.rows_y, nullptr, {}, kernel_for(choose_isa()), data.run);
  ASSERT_FALSE(model.pairs().is_exact());
  const Outranking outranking(edges, model, kernel_for(choose_isa()), data.run);
  Definition definition(data.rows_x, data.rows_y);
  for (Vertex j = 0; j < kRows; ++j) {
    const FinePair pairs[2] = {{0, 0}, {0, j}};
    double values[2];
    definition.evaluate(pairs, values);
    ASSERT_EQ(outranking.at(j), values[1] > values[0]) << j;
  }
}

TEST(EdgeStats, WithoutEdgesHaveNoShares) {
  const Data data("normal", 10, 4);
  const Edges none{Array<EdgeIndex>(11, EdgeIndex{0}), {}};
  const LossModel model(data.rows_x, data.rows_y, nullptr, {}, kScalarKernel, data.run);
  expect_stats(data, none, model, kScalarKernel);
  EXPECT_EQ(
      edge_stats(none, Outranking(none, model, kScalarKernel, data.run), in_order(10), 3, data.run).bandwidth,
      0u);
}

}  // namespace
}  // namespace gcbs
