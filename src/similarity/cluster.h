// Cluster order: rows of both sides that point the same way stand together, so that candidates gather
// in few blocks of the product and the others can be left early.
#pragma once

#include "base/run.h"
#include "similarity/head.h"
#include "similarity/join.h"

namespace gcbs {

/// An order of the rows of both sides, by repeated k-means on their heads. Any order is correct.
Places cluster_order(const FinePrepared& fine, const Head& head, const Kernel& kernel, const RunContext& run);

/// Moves row places.x[p] of X to place p, the same for Y, in place.
void reorder(FinePrepared& fine, Places&& places, const RunContext& run);

}  // namespace gcbs
