// Both directions of the kept edges as sorted lists: 8 bytes an edge. The union is never built.
#pragma once

#include "base/run.h"
#include "gcbs/graph.h"

namespace gcbs {

/// out: the directed edges i -> j; in: their transpose. Neighbours of v are the merge of
/// out.row(v) and in.row(v), duplicates once.
struct Graph {
  Edges out, in;
  std::size_t vertices() const noexcept { return out.rows(); }
};

/// Takes the edges and adds their transpose. Parallel, the same for every thread count.
Graph build_graph(Edges edges, const RunContext& run);

/// A graph of n vertices and no edge.
Graph empty_graph(std::size_t vertices);

}  // namespace gcbs
