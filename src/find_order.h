// Rows and their graph -> an order, by any method.
#pragma once

#include "gcbs/ordering.h"
#include "graph/graph.h"
#include "matrix/rows.h"
#include "similarity/quick_judge.h"

namespace gcbs {

struct FindOrder {
  std::size_t batch_size = 0;
  std::size_t block_size = 0;          ///< what pack fills
  const QuickJudge* judge = nullptr;   ///< which rows pack keeps apart; may be null
  const FinePrepared* fine = nullptr;  ///< the rows as int16, for pack; may be null
};

struct MadeOrder {
  Order order;
  std::optional<std::uint64_t> swaps;  ///< that pack made
};

/// The rows are read by pack only, and may be null for other methods; so are the similarities of graph.out's
/// edges, which may be empty for other methods.
MadeOrder find_order(const Rows* x, const Rows* y, const Graph& graph, Array<float>&& similarities,
                     const OrderingOptions& options, const FindOrder& how, const RunContext& run);

/// What the graph and packing take at once, in bytes: 16 an edge, the int16 rows, sums of blocks, and a
/// little for every row.
double expected_pack_bytes(std::size_t rows, std::size_t cols, double edges, std::size_t block_size,
                           unsigned threads);

}  // namespace gcbs
