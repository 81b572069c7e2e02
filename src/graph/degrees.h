// How many neighbours each vertex has.
#pragma once

#include "graph/graph.h"

namespace gcbs {

/// What a diagonal entry adds to its vertex's degree: 1, or 2 as in scipy's reverse_cuthill_mckee.
enum class DiagonalDegree : bool { once, twice };

/// Degrees in the union of both directions. Parallel, the same for every thread count.
Array<Vertex> count_degrees(const Graph& graph, DiagonalDegree diagonal, const RunContext& run);

}  // namespace gcbs
