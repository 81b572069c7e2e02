// The similarities of the kept edges.
#pragma once

#include "gcbs/array.h"
#include "gcbs/graph.h"
#include "matrix/rows.h"
#include "similarity/operand.h"

namespace gcbs {

/// No value is further than this from s: a fiftieth of the usual temperature, and nearly all are a hundred
/// times nearer.
inline constexpr double kEdgeValueError = 1e-3;

/// s(i,j), about, in the order of edges.columns; equal rows have equal values. `fine`: the rows as int16, in
/// any places. Parallel, the same bytes for every thread count, kernel and order of places.
Array<float> edge_values(const FinePrepared& fine, const Rows& x, const Rows& y, const Edges& edges,
                         const Kernel& kernel, const RunContext& run);

}  // namespace gcbs
