// The similarities of the kept edges, by the definition.
#pragma once

#include "gcbs/array.h"
#include "gcbs/graph.h"
#include "matrix/rows.h"

namespace gcbs {

/// Bytes of the rows of Y that edge_values holds at a time, at least; never less than a quarter of them.
inline constexpr std::size_t kStripeBytes = std::size_t{1} << 30;

/// s(i,j) of contract C1, rounded to float32, in the order of edges.columns. Parallel, the same bytes for
/// every thread count.
Array<float> edge_values(const Rows& x, const Rows& y, const Edges& edges, const RunContext& run,
                         std::size_t stripe_bytes = kStripeBytes);

/// The most that edge_values allocates, its result included, in bytes.
double edge_values_bytes(std::size_t rows, std::size_t cols, double edges);

}  // namespace gcbs
