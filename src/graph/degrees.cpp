// Degrees in the union of out and in: |out| + |in| - |out and in|, vertex by vertex.
//
// Requires: the lists of build_graph. Ensures: degree <= N (N + 1 where the diagonal counts twice).
// Cost: O(E) time, 4 N bytes; vertices are independent, so the same for every thread count.
//
// The intersection is one branch-free merge: about 2 ns a step, where a branchy one mispredicts at
// every other step.
#include "graph/degrees.h"

#include <algorithm>

#include "graph/neighbours.h"

namespace gcbs {

namespace {
constexpr std::size_t kVerticesAPiece = 1024;
}  // namespace

Array<Vertex> count_degrees(const Graph& graph, DiagonalDegree diagonal, const RunContext& run) {
  Array<Vertex> degrees(graph.vertices(), run.meter);
  parallel_for(run, degrees.size(), kVerticesAPiece, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t v = begin; v < end; ++v) {
      const std::span<const Vertex> out = graph.out.row(v), in = graph.in.row(v);
      std::size_t degree = out.size() + in.size() - count_shared(out, in);
      if (diagonal == DiagonalDegree::twice)
        degree += std::binary_search(out.begin(), out.end(), static_cast<Vertex>(v));
      degrees[v] = static_cast<Vertex>(degree);
    }
  });
  return degrees;
}

}  // namespace gcbs
