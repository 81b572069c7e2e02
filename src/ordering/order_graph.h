// Dispatch: method -> algorithm. One algorithm a file.
#pragma once

#include "base/run.h"
#include "gcbs/ordering.h"
#include "graph/graph.h"

namespace gcbs {

/// Orders the vertices of `graph` (for methods that read none, only its vertex count is used).
Order order_graph(const Graph& graph, const OrderingOptions& options, const RunContext& run);

}  // namespace gcbs
