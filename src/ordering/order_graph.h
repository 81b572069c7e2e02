// Dispatch: method -> algorithm. One algorithm a file.
#pragma once

#include "base/run.h"
#include "gcbs/ordering.h"
#include "graph/graph.h"

namespace gcbs {

/// Orders the vertices of `graph`, by any method but pack (for methods that read none, only its vertex count
/// is used) on run.threads threads. Checked to be a permutation.
Order order_graph(const Graph& graph, const OrderingOptions& options, const RunContext& run);

/// Throws Error(internal) where an order is not a permutation of so many vertices.
void check_permutation(const Order& order, std::size_t vertices);

/// The most that order_graph allocates at once, the order included, in bytes.
std::uint64_t order_graph_bytes(std::size_t vertices) noexcept;

}  // namespace gcbs
