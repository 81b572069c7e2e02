// The whole of the stage: an order in, an order out whose consecutive batches are what the trainer sees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/run.h"
#include "batches/suspect_test.h"
#include "gcbs/batches.h"
#include "graph/graph.h"
#include "similarity/groups.h"

namespace gcbs {

/// What batches have to obey. Borrows.
struct BatchRules {
  std::size_t batch_size;
  const BatchOptions& options;
  std::uint64_t seed;
  const Groups& groups;
  std::span<const GroupIds> ids;  ///< of the groups, for messages; may be empty
  const Graph* graph;             ///< whose edges swaps should keep together; may be null
  SuspectTest is_suspect;
};

struct MadeBatches {
  std::vector<Vertex> order;
  BatchReport report;
};

/// Throws Error(usage) for options that are wrong whatever the data.
void check_batch_options(const BatchOptions& options, std::size_t batch_size);

/// Every row once, batches of `batch_size`, the last one what remains, groups apart. With default options
/// and no groups and suspects, the order as it is. Throws Error(input) where groups cannot be kept apart.
MadeBatches make_batches(std::vector<Vertex> order, const BatchRules& rules, const RunContext& run);

/// The most that make_batches allocates, in bytes.
double make_batches_bytes(std::size_t rows, std::size_t lists);

}  // namespace gcbs
