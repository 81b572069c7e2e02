// Both directions of the kept edges as sorted lists: 8 bytes an edge. The union is never built.
#pragma once

#include "base/run.h"
#include "gcbs/graph.h"

namespace gcbs {

/// out: the directed edges i -> j; in: their transpose. Neighbours of v are the merge of
/// out.row(v) and in.row(v), duplicates once (graph/neighbours.h).
struct Graph {
  Edges out, in;
  std::size_t vertices() const noexcept { return out.rows(); }
};

/// Takes the edges and adds their transpose. Parallel, the same bytes for every thread count.
/// Throws Error(internal) where a row is not ascending and distinct or leaves the vertices.
Graph build_graph(Edges edges, const RunContext& run);

/// The most that build_graph allocates at once beside the edges it is given, in bytes.
std::uint64_t build_graph_bytes(std::size_t vertices, EdgeIndex edges, unsigned threads) noexcept;

/// A graph of n vertices and no edge.
Graph empty_graph(std::size_t vertices);

}  // namespace gcbs
