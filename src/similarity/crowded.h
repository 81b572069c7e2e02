// The exact threshold where equal values crowd around it and cannot all be listed.
#pragma once

#include "gcbs/similarity.h"
#include "similarity/join.h"

namespace gcbs {

/// The threshold of mode exact or paper. Memory stays bounded however many pairs tie; takes several
/// passes over the products. Set input.classes: equal rows are what makes values tie.
double find_crowded_threshold(const JoinInput& input, ThresholdMode mode, double quantile,
                              const RunContext& run);

}  // namespace gcbs
