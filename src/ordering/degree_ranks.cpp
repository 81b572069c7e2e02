// Ranks of the vertices by (degree, index), by a counting sort.
//
// Ensures: rank_of and vertex_at are inverse permutations; ties in degree go to the lower index.
// Cost: O(E) for the degrees (parallel), O(N) for the sort; at most 16 N bytes at once, 8 N stay.
#include "ordering/degree_ranks.h"

#include <algorithm>

#include "graph/degrees.h"

namespace gcbs {

DegreeRanks rank_by_degree(const Graph& graph, const OrderingOptions& options, const RunContext& run) {
  const std::size_t vertices = graph.vertices();
  const DiagonalDegree diagonal = options.paper_degrees ? DiagonalDegree::twice : DiagonalDegree::once;
  const Array<Vertex> degrees = count_degrees(graph, diagonal, run);
  const Vertex most = vertices == 0 ? 0 : *std::max_element(degrees.begin(), degrees.end());

  Array<Vertex> next_rank(std::size_t{most} + 2, Vertex{0}, run.meter);
  for (const Vertex degree : degrees) ++next_rank[std::size_t{degree} + 1];
  for (std::size_t degree = 1; degree < next_rank.size(); ++degree)
    next_rank[degree] += next_rank[degree - 1];

  DegreeRanks ranks{Array<Vertex>(vertices, run.meter), Array<Vertex>(vertices, run.meter)};
  for (std::size_t v = 0; v < vertices; ++v) {
    const Vertex rank = next_rank[degrees[v]]++;
    ranks.rank_of[v] = rank;
    ranks.vertex_at[rank] = static_cast<Vertex>(v);
  }
  return ranks;
}

}  // namespace gcbs
