// The algorithms behind order_graph, each in the file of its name.
#pragma once

#include "base/run.h"
#include "gcbs/ordering.h"
#include "graph/graph.h"

namespace gcbs {

/// What an order cost, counted: tests show by it that the work grows with the edges.
struct OrderingWork {
  EdgeIndex edges_scanned = 0;  ///< list entries looked at, both directions
  EdgeIndex comparisons = 0;    ///< of sorts
};

struct MeasuredOrder {
  Order order;
  OrderingWork work;
};

MeasuredOrder order_cm(const Graph& graph, const OrderingOptions& options, const RunContext& run);
MeasuredOrder order_rcm(const Graph& graph, const OrderingOptions& options, const RunContext& run);
MeasuredOrder order_chain(const Graph& graph, const OrderingOptions& options, const RunContext& run);
Order order_random(std::size_t vertices, std::uint64_t seed);
Order order_natural(std::size_t vertices);

}  // namespace gcbs
