// A cheap look at what an order is worth: the gap it closes, estimated from a few anchors.
#pragma once

#include <span>

#include "gcbs/pipeline.h"
#include "graph/graph.h"
#include "matrix/rows.h"
#include "similarity/pair_judge.h"

namespace gcbs {

/// Samples anchors (seeded) and compares their loss in the order's batches, in random ones and over all
/// pairs. `graph` holds the edges above the threshold. None where a batch holds everything. With `judge`
/// (may be null) only admissible pairs count.
std::optional<Verdict> judge_order(const Rows& x, const Rows& y, const Graph& graph,
                                   std::span<const Vertex> order, std::size_t batch_size,
                                   const VerdictOptions& options, std::uint64_t seed, const RunContext& run,
                                   const PairJudge* judge = nullptr);

}  // namespace gcbs
