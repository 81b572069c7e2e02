// Algorithm 1 of the paper as printed: a chain of nearest vertices.
//
// From the last vertex, search breadth first among the vertices not yet in the chain, order what is
// found by (distance, degree, index), append its first. Where nothing is found, the chain starts anew
// at the vertex of least (degree, index), as at the beginning.
//
// Ensures: a permutation; deterministic, ties to the lower index.
// Cost: O(E) time, each list scanned once; 8 N bytes beside the order, 16 N before, while the degrees
// are ranked. Serial but for the degrees.
//
// The search is never run. It leaves out the vertices of the chain, so the first level it finds is the
// last vertex's neighbours that are not in the chain; if there are none, it finds nothing at all. One
// array holds each vertex's rank by (degree, index), or the largest integer once it is in the chain:
// the next vertex is the least entry over the neighbours, a scan without a branch.
#include <algorithm>
#include <limits>
#include <span>

#include "ordering/degree_ranks.h"
#include "ordering/orders.h"
#include "ordering/pace.h"

namespace gcbs {

namespace {

constexpr Vertex kInChain = std::numeric_limits<Vertex>::max();

Vertex least_key(std::span<const Vertex> neighbours, const Vertex* keys, Vertex least) noexcept {
  for (const Vertex u : neighbours) least = std::min(least, keys[u]);
  return least;
}

}  // namespace

MeasuredOrder order_chain(const Graph& graph, const OrderingOptions& options, const RunContext& run) {
  DegreeRanks ranks = rank_by_degree(graph, options, run);
  Vertex* const keys = ranks.rank_of.data();
  MeasuredOrder measured;
  std::vector<Vertex>& order = measured.order.old_of_new;
  order.reserve(graph.vertices());
  Pace pace(run, graph.vertices());

  Vertex next_start = 0, next = kInChain;
  while (order.size() < graph.vertices()) {
    if (next == kInChain) {
      while (keys[ranks.vertex_at[next_start]] == kInChain) ++next_start;
      next = next_start;
    }
    const Vertex v = ranks.vertex_at[next];
    order.push_back(v);
    keys[v] = kInChain;
    const std::span<const Vertex> out = graph.out.row(v), in = graph.in.row(v);
    next = least_key(in, keys, least_key(out, keys, kInChain));
    measured.work.edges_scanned += out.size() + in.size();
    pace.take(out.size() + in.size() + 1, order.size());
  }
  return measured;
}

}  // namespace gcbs
