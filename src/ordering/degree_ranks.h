// Vertices by (degree, index): one integer in place of two wherever an order compares them.
#pragma once

#include "gcbs/ordering.h"
#include "graph/graph.h"

namespace gcbs {

/// rank_of[v] is the number of vertices of lesser (degree, index); vertex_at is its inverse.
struct DegreeRanks {
  Array<Vertex> rank_of, vertex_at;
};

DegreeRanks rank_by_degree(const Graph& graph, const OrderingOptions& options, const RunContext& run);

}  // namespace gcbs
