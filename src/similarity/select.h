// From a joined band to the exact threshold: ranks the undecided pairs, evaluating the definition
// only for those that the small numbers leave in doubt.
#pragma once

#include <optional>
#include <vector>

#include "similarity/join.h"

namespace gcbs {

struct Selection {
  double threshold;
  MeteredVector<FinePair> survivors;  ///< undecided pairs with s > threshold, sorted by (row, col)
};

/// numpy's q-quantile of all values, given every pair above band.low. None where the quantile may
/// lie outside the band: join again with a wider one.
std::optional<Selection> select_exact(const JoinInput& input, const JoinResult& join, Band band,
                                      double quantile, const RunContext& run);

/// The same where only admissible pairs were joined: the value after the `wanted` largest ones, minus
/// infinity where there are no more than that.
std::optional<Selection> select_admissible(const JoinInput& input, const JoinResult& join, Band band,
                                           std::uint64_t wanted, const RunContext& run);

/// The median of the quantiles of 3-row chunks, likewise.
std::optional<Selection> select_paper(const JoinInput& input, const JoinResult& join, Band band,
                                      double quantile, const RunContext& run);

}  // namespace gcbs
