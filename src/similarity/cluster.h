// Cluster order: rows of both sides that point the same way stand together, so that candidates gather
// in few blocks of the product and the others can be left early.
#pragma once

#include "base/run.h"
#include "similarity/head.h"

namespace gcbs {

/// An order of the places of both sides.
struct PlaceOrder {
  Array<Vertex> x, y;
};

/// By repeated k-means on heads. Any order is correct.
PlaceOrder cluster_order(const FinePrepared& fine, const Head& head, const Kernel& kernel,
                         const RunContext& run);

/// What was at place order.x[p] of X moves to place p, the same for Y.
void reorder(FinePrepared& fine, const PlaceOrder& order, const RunContext& run);

}  // namespace gcbs
