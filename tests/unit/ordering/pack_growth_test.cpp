#include <gtest/gtest.h>

#include "ordering/orders.h"
#include "ordering/pack_steps.h"
#include "unit/ordering/pack_cases.h"

namespace gcbs {
namespace {

using testing::PackCase;

/// Growth by its definition: at every step all scores are looked at.
std::vector<Vertex> grow_slowly(const PackModel& model, std::size_t block, const std::vector<Vertex>& seeds) {
  const Graph& graph = *model.graph;
  const std::size_t n = seeds.size();
  const auto share = [&](const Edges& edges, const Array<float>& weights, Vertex v) {
    double sum = static_cast<double>(model.base[v]);
    for (EdgeIndex e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e)
      sum += static_cast<double>(weights[e]);
    return static_cast<float>(1 / sum);
  };
  std::vector<Vertex> order;
  std::vector<bool> placed(n, false);
  while (order.size() < n) {
    std::vector<float> score(n, 0.0f);
    for (std::size_t size = 0; size < block && order.size() < n; ++size) {
      Vertex best = static_cast<Vertex>(n);
      for (Vertex v = 0; v < n; ++v)
        if (!placed[v] && score[v] > 0 && (best == n || score[v] > score[best])) best = v;
      for (std::size_t s = 0; best == n; ++s)
        if (!placed[seeds[s]]) best = seeds[s];
      placed[best] = true;
      order.push_back(best);
      for (EdgeIndex e = graph.out.offsets[best]; e < graph.out.offsets[best + 1]; ++e) {
        const Vertex j = graph.out.columns[e];
        score[j] += model.out[e] * (share(graph.out, model.out, best) + share(graph.in, model.in, j));
      }
      for (EdgeIndex e = graph.in.offsets[best]; e < graph.in.offsets[best + 1]; ++e) {
        const Vertex j = graph.in.columns[e];
        score[j] += model.in[e] * (share(graph.in, model.in, best) + share(graph.out, model.out, j));
      }
    }
  }
  return order;
}

TEST(PackGrowth, TakesTheVertexThatIsTiedMostClosely) {
  for (const testing::Drawing& drawing : testing::draw_many()) {
    const std::size_t n = drawing.vertices;
    if (n == 0) continue;
    // Equal weights too: ties go to the lower index.
    for (const Objective objective : {Objective::loss, Objective::edges}) {
      const PackCase data(drawing, 5, objective);
      const std::vector<Vertex> seeds = order_random(n, 6).old_of_new;
      for (const std::size_t block : {2, 5, 64})
        EXPECT_EQ(grow_blocks(data.model, block, seeds, nullptr, {}), grow_slowly(data.model, block, seeds))
            << drawing.name << ", blocks of " << block;
    }
  }
}

TEST(PackGrowth, ManyNeighboursFillManyChunks) {
  const PackCase data(testing::draw_random(700, 40, 1), 2);
  const std::vector<Vertex> seeds = order_rcm(data.graph, {}, {}).order.old_of_new;
  EXPECT_EQ(grow_blocks(data.model, 50, seeds, nullptr, {}), grow_slowly(data.model, 50, seeds));
}

}  // namespace
}  // namespace gcbs
