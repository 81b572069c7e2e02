// Weighted graphs for the tests of packing, and the objective by its definition.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "ordering/pack_model.h"
#include "ordering/pack_state.h"
#include "support/graphs.h"

namespace gcbs::testing {

/// Similarities and positives of a drawn graph, at random. The graph stays where it is.
struct PackCase {
  explicit PackCase(const Drawing& drawing, std::uint64_t seed, Objective objective = Objective::loss,
                    std::size_t batch_size = 8)
      : graph(graph_of(drawing)) {
    Random random(seed);
    const auto uniform = [&] { return static_cast<double>(random.next() >> 11) * 0x1p-53; };
    const std::size_t n = graph.vertices();
    PackValues values;
    values.similarities = Array<float>(graph.out.count());
    for (float& s : values.similarities) s = static_cast<float>(0.3 + 0.5 * uniform());
    values.positives = Array<double>(n);
    for (double& p : values.positives) p = 0.2 + 0.6 * uniform();
    values.sample = Array<double>(100);
    for (double& s : values.sample) s = 0.4 * uniform();
    values.batch_size = batch_size;
    similarities.assign(values.similarities.begin(), values.similarities.end());
    positives.assign(values.positives.begin(), values.positives.end());
    sample.assign(values.sample.begin(), values.sample.end());
    model = make_pack_model(graph, std::move(values), objective, {});
  }

  Graph graph;
  PackModel model;
  std::vector<float> similarities;
  std::vector<double> positives, sample;
};

/// The sum of log X_i + log Y_i less the bases', from nothing but the model's numbers.
inline double naive_objective(const PackModel& model, const std::vector<Vertex>& order, std::size_t block) {
  const Graph& graph = *model.graph;
  std::vector<std::size_t> block_of(order.size());
  for (std::size_t p = 0; p < order.size(); ++p) block_of[order[p]] = p / block;
  double sum = 0;
  for (std::size_t v = 0; v < order.size(); ++v)
    for (const auto& [edges, weights] :
         {std::pair{&graph.out, &model.out}, std::pair{&graph.in, &model.in}}) {
      double total = static_cast<double>(model.base[v]);
      for (EdgeIndex e = edges->offsets[v]; e < edges->offsets[v + 1]; ++e)
        if (edges->columns[e] != v && block_of[edges->columns[e]] == block_of[v])
          total += static_cast<double>((*weights)[e]);
      sum += std::log(total / static_cast<double>(model.base[v]));
    }
  return sum;
}

/// No two rows with the same remainder share a block.
class Remainders final : public BlockRules {
 public:
  explicit Remainders(Vertex modulus) : modulus_(modulus) {}
  bool may_join(Vertex v, std::span<const Vertex> members, Vertex leaving) const override {
    return std::none_of(members.begin(), members.end(), [&](Vertex other) {
      return other != leaving && other != v && other % modulus_ == v % modulus_;
    });
  }

 private:
  Vertex modulus_;
};

}  // namespace gcbs::testing
