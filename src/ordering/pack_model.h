// What packing maximises, as numbers on the graph (docs/orders.md).
#pragma once

#include "base/run.h"
#include "gcbs/ordering.h"
#include "graph/graph.h"
#include "ordering/pack_unseen.h"

namespace gcbs {

/// Every vertex has two anchors, x and y. In a block, anchor x of i has the sum
///   X_i = base[i] + the weights of the edges i -> j into the block,
/// anchor y the same of the edges j -> i, and packing maximises the sum of log X_i + log Y_i, and what the
/// pairs without an edge add to it. Borrows the graph and rows.
struct PackModel {
  const Graph* graph = nullptr;
  Array<float> out, in;  ///< the weight of each entry of graph->out and graph->in, positive
  Array<float> base;     ///< of either anchor
  double unit = 1;       ///< what a good edge gains, about
  UnseenPairs unseen{};

  std::size_t vertices() const noexcept { return graph->vertices(); }
};

/// What the weights are made of.
struct PackValues {
  Array<float> similarities;           ///< of graph.out's entries
  Array<double> positives;             ///< s(i,i)
  Array<double> sample;                ///< similarities of random pairs, for what the graph does not show
  const FinePrepared* rows = nullptr;  ///< the rows as int16, for the same; null: it counts the same for all
  double temperature = 0.05;
  std::size_t batch_size = 0;
};

/// loss: weights e^(s / temperature), so that log X_i is what the batch's loss has, but for a constant.
/// similarity, edges: weights max(s, 0), or 1, beside a base so large that the logarithm is straight.
PackModel make_pack_model(const Graph& graph, PackValues&& values, Objective objective,
                          const RunContext& run);

}  // namespace gcbs
