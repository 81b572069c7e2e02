// The exact threshold where values crowd around it and cannot all be listed.
#pragma once

#include <optional>

#include "gcbs/similarity.h"
#include "similarity/join.h"

namespace gcbs {

/// A narrower band that holds the median of the chunks' quantiles too, found by counting; none where
/// counting does not say on which side of the middle it lies. Paper mode.
std::optional<Band> narrow_paper_band(const JoinInput& input, Band band, double quantile,
                                      const RunContext& run);

/// The threshold of mode exact or paper. Memory stays bounded however many pairs tie; takes several
/// passes over the products. Set input.classes: equal rows are what makes values tie.
double find_crowded_threshold(const JoinInput& input, ThresholdMode mode, double quantile,
                              const RunContext& run);

}  // namespace gcbs
