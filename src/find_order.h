// Rows and their graph -> an order, by any method.
#pragma once

#include "gcbs/ordering.h"
#include "graph/graph.h"
#include "matrix/rows.h"
#include "similarity/pair_judge.h"

namespace gcbs {

struct FindOrder {
  std::size_t batch_size = 0;
  std::size_t block_size = 0;        ///< what pack fills; 0: the batch size
  const PairJudge* judge = nullptr;  ///< which rows pack keeps apart; may be null
};

/// The rows are read by pack only, and may be null for other methods.
Order find_order(const Rows* x, const Rows* y, const Graph& graph, const OrderingOptions& options,
                 const FindOrder& how, const RunContext& run);

/// What the graph and packing take at once, in bytes: 16 an edge and a little for every row.
double expected_pack_bytes(std::size_t rows, std::size_t cols, double edges, unsigned threads);

}  // namespace gcbs
