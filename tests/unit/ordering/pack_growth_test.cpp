#include <gtest/gtest.h>

#include <map>

#include "ordering/orders.h"
#include "ordering/pack_steps.h"
#include "unit/ordering/pack_cases.h"

namespace gcbs {
namespace {

using testing::PackCase;
using testing::Remainders;

/// Growth by its definition: at every step all scores are looked at, and everybody is judged anew.
std::vector<Vertex> grow_slowly(const PackModel& model, std::size_t block, const std::vector<Vertex>& seeds,
                                const BlockRules* rules) {
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
    const std::size_t first = order.size();
    const auto fits = [&](Vertex v) {
      return !placed[v] && (rules == nullptr || rules->may_join(v, std::span(order).subspan(first), v));
    };
    for (std::size_t size = 0; size < block && order.size() < n; ++size) {
      Vertex best = static_cast<Vertex>(n);
      for (Vertex v = 0; v < n; ++v)
        if (fits(v) && score[v] > 0 && (best == n || score[v] > score[best])) best = v;
      for (std::size_t s = 0; best == n && s < n; ++s)
        if (fits(seeds[s])) best = seeds[s];
      for (std::size_t s = 0; best == n; ++s)  // nobody fits
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
      const Remainders few(7), many(40);
      for (const BlockRules* rules :
           {static_cast<const BlockRules*>(nullptr), static_cast<const BlockRules*>(&few),
            static_cast<const BlockRules*>(&many)})
        for (const std::size_t block : {2, 5, 64})
          EXPECT_EQ(grow_blocks(data.model, block, seeds, rules, {}),
                    grow_slowly(data.model, block, seeds, rules))
              << drawing.name << ", blocks of " << block;
    }
  }
}

/// Counts how often a vertex is judged for a block, by the block's first member.
class CountingRules final : public BlockRules {
 public:
  bool may_join(Vertex v, std::span<const Vertex> members, Vertex leaving) const override {
    if (!members.empty()) most_ = std::max(most_, ++asked_[{v, members[0]}]);
    return rules_.may_join(v, members, leaving);
  }
  std::size_t most() const noexcept { return most_; }

 private:
  Remainders rules_{9};
  mutable std::map<std::pair<Vertex, Vertex>, std::size_t> asked_;
  mutable std::size_t most_ = 0;
};

TEST(PackGrowth, JudgesNobodyTwiceForABlock) {
  const PackCase data(testing::draw_random(300, 30, 3), 4);
  const CountingRules rules;
  grow_blocks(data.model, 40, order_random(300, 5).old_of_new, &rules, {});
  EXPECT_EQ(rules.most(), 1u);
}

TEST(PackGrowth, ManyNeighboursFillManyChunks) {
  const PackCase data(testing::draw_random(700, 40, 1), 2);
  const std::vector<Vertex> seeds = order_rcm(data.graph, {}, {}).order.old_of_new;
  EXPECT_EQ(grow_blocks(data.model, 50, seeds, nullptr, {}), grow_slowly(data.model, 50, seeds, nullptr));
}

}  // namespace
}  // namespace gcbs
