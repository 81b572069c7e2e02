// What the softmax of a row of X over all rows of Y is divided by: from the kept edges, and an estimate of
// the rest.
#pragma once

#include "gcbs/array.h"
#include "gcbs/graph.h"
#include "matrix/rows.h"

namespace gcbs {

/// log of the sum over j of exp(s(i,j) / temperature), for each i: kept edges by their values (of
/// edge_values), the positive, and the rest by a random sample of columns, the same for every row. The same
/// bytes for every thread count.
Array<double> estimate_log_sums(const Rows& x, const Rows& y, const Edges& edges, const Array<float>& values,
                                double temperature, std::uint64_t seed, const RunContext& run);

}  // namespace gcbs
