// The whole of the stage: operands, threshold, join.
#pragma once

#include <functional>
#include <string_view>

#include "gcbs/cpu.h"
#include "gcbs/graph.h"
#include "gcbs/similarity.h"
#include "matrix/rows.h"
#include "similarity/kernels/kernel.h"

namespace gcbs {

const Kernel& kernel_for(Isa isa);

struct FoundEdges {
  Edges edges;
  Threshold threshold;
};

/// Called as each stage of the report begins: prepare, threshold, join.
using StageMark = std::function<void(std::string_view)>;

/// The edges s(i,j) > t, and t, exactly as contracts C1 and C2 say. `quantile` in [0, 1).
FoundEdges find_edges(const Rows& x, const Rows& y, double quantile, const SimilarityOptions& options,
                      const Kernel& kernel, const RunContext& run, const StageMark& begin_stage);

}  // namespace gcbs
