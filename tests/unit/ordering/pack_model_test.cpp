#include "ordering/pack_model.h"

#include <gtest/gtest.h>

#include "unit/ordering/pack_cases.h"

namespace gcbs {
namespace {

using testing::PackCase;

TEST(PackModel, WeighsEdgesAsTheLossDoes) {
  const PackCase data(testing::draw_random(60, 9, 3), 5);
  const PackModel& model = data.model;
  double unseen = 0, count = 0;
  const double least =
      static_cast<double>(*std::min_element(data.similarities.begin(), data.similarities.end()));
  for (const double s : data.sample)
    if (s <= least) unseen += std::exp(s / 0.05), ++count;
  ASSERT_GT(count, 0);
  // Only ratios count: a base against the weight of an edge.
  const double edge = std::exp(static_cast<double>(data.similarities[0]) / 0.05);
  for (std::size_t i = 0; i < model.vertices(); ++i) {
    const double base = std::exp(data.positives[i] / 0.05) + 8 * 7 * unseen / count;
    EXPECT_NEAR(static_cast<double>(model.base[i]) / static_cast<double>(model.out[0]) * edge / base, 1,
                1e-5);
  }
  for (std::size_t e = 0; e < model.out.size(); ++e)
    EXPECT_NEAR(std::log(static_cast<double>(model.out[e]) / static_cast<double>(model.out[0])),
                static_cast<double>(data.similarities[e] - data.similarities[0]) / 0.05, 1e-5);
}

TEST(PackModel, KnowsEveryWeightFromBothEnds) {
  const PackCase data(testing::draw_skewed(80, 6, 4), 6);
  const Graph& graph = data.graph;
  std::size_t met = 0;
  for (Vertex i = 0; i < graph.vertices(); ++i)
    for (EdgeIndex e = graph.out.offsets[i]; e < graph.out.offsets[i + 1]; ++e) {
      const Vertex j = graph.out.columns[e];
      const auto row = graph.in.row(j);
      const auto at = std::lower_bound(row.begin(), row.end(), i) - row.begin();
      EXPECT_EQ(data.model.in[graph.in.offsets[j] + static_cast<EdgeIndex>(at)], data.model.out[e]);
      ++met;
    }
  EXPECT_EQ(met, data.model.in.size());
}

TEST(PackModel, StraightObjectivesCountEdgesAndSimilarities) {
  const testing::Drawing drawing = testing::draw_cliques({4, 4, 4});
  for (const Objective objective : {Objective::edges, Objective::similarity}) {
    const PackCase data(drawing, 7, objective, 4);
    std::vector<Vertex> order(12);
    for (Vertex v = 0; v < 12; ++v) order[v] = v;
    double wanted = 0;
    for (const float s : data.similarities)
      wanted += objective == Objective::edges ? 1 : static_cast<double>(s);
    // Every edge enters two sums.
    const double found =
        testing::naive_objective(data.model, order, 4) * static_cast<double>(data.model.base[0]);
    EXPECT_NEAR(found / (2 * wanted), 1, 1e-3) << name_of(objective);
  }
}

TEST(PackModel, ExtremeTemperaturesStayFinite) {
  for (const double temperature : {1e-6, 0.001, 100.0}) {
    const Graph graph = testing::graph_of(testing::draw_random(30, 5, 1));
    PackValues values;
    values.similarities = Array<float>(graph.out.count());
    for (std::size_t e = 0; e < graph.out.count(); ++e) values.similarities[e] = e % 2 == 0 ? 1.0f : -0.9f;
    values.positives = Array<double>(30, 0.5);
    values.temperature = temperature;
    values.batch_size = 4;
    const PackModel model = make_pack_model(graph, std::move(values), Objective::loss, {});
    for (const float weight : model.out) EXPECT_TRUE(std::isfinite(weight) && weight > 0);
    for (const float base : model.base) EXPECT_TRUE(std::isfinite(base) && base > 0);
  }
}

}  // namespace
}  // namespace gcbs
