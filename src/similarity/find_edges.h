// The whole of the stage: operands, threshold, join.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "gcbs/cpu.h"
#include "gcbs/graph.h"
#include "gcbs/similarity.h"
#include "matrix/rows.h"
#include "similarity/edge_sieve.h"
#include "similarity/kernels/kernel.h"
#include "similarity/operand.h"

namespace gcbs {

const Kernel& kernel_for(Isa isa);

struct FoundEdges {
  Edges edges;
  Threshold threshold;
  std::optional<FinePrepared> fine;  ///< the int16 rows, where they were to be kept
};

/// Whether the int16 rows are wanted afterwards.
enum class FineRows : bool { drop, keep };

/// What the pairs near an exact threshold take while it is sought, about.
double expected_band_bytes(double quantile, std::size_t rows);

/// Called as each stage of the report begins: prepare, threshold, join.
using StageMark = std::function<void(std::string_view)>;

/// The edges s(i,j) > t, and t, exactly as contracts C1 and C2 say. `quantile` in [0, 1). With `filter`
/// (may be null), as contract C10 says: the filter->wanted largest admissible values are kept, t is the next
/// one, minus infinity where there is none; the quantile is not read, modes are exact and estimate.
FoundEdges find_edges(const Rows& x, const Rows& y, double quantile, const SimilarityOptions& options,
                      const Kernel& kernel, const RunContext& run, const StageMark& begin_stage,
                      const EdgeFilter* filter = nullptr, FineRows fine_rows = FineRows::drop);

}  // namespace gcbs
