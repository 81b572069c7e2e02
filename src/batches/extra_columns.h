// Negatives shared by the batch: for each batch the rows outside it whose y weigh most with its x.
#pragma once

#include "base/run.h"
#include "batches/suspect_test.h"
#include "gcbs/batches.h"
#include "gcbs/graph.h"
#include "similarity/groups.h"

namespace gcbs {

/// What a batch's x give to y rows: kept edges, their values, and the log sums of the softmax.
struct EdgeMass {
  const Edges& edges;
  const Array<float>& values;
  const Array<double>& log_sums;
  double temperature;
};

/// For each batch of the order up to `columns` rows outside it of the largest mass, the sum over the batch's
/// x of exp(s / temperature) / Z_x over kept edges; equal masses by row. Never a mate of a row of the batch
/// or of another extra row, never a suspect of a row of the batch. The same for every thread count.
ExtraColumns choose_extras(std::span<const Vertex> order, std::size_t batch_size, const EdgeMass& mass,
                           std::size_t columns, const Groups& groups, const SuspectTest& is_suspect,
                           const RunContext& run);

}  // namespace gcbs
