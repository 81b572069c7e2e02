// A first guess at the threshold from a sample of the N^2 values, and how sure it is.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/run.h"
#include "similarity/edge_sieve.h"
#include "similarity/limits.h"
#include "similarity/operand.h"

namespace gcbs {

/// The upper end of a sample of fine values, and the spread of its tail count.
struct TailSample {
  std::vector<double> top;     ///< descending: every sampled value above the cut
  double cut = 0;              ///< where the values end; more than enough are at least this
  double drawn = 0;            ///< values drawn in all
  bool complete = false;       ///< every pair was drawn once
  double fine_bound = 0;       ///< |value - s|, for every pair
  double tail_share = 0;       ///< 1 - q
  double count_deviation = 0;  ///< standard deviation of the number of values above the estimate

  /// numpy's q-quantile of the drawn values.
  double estimate() const;
  /// Where the threshold lies: `deviations` standard deviations of the tail count to either side.
  Band interval(double deviations) const;

 private:
  /// The value `rank` places from the top (0: the largest); above all: infinity.
  double at_rank(double rank) const;
};

/// Draws random 16 x 16 tiles (few rows against many columns would be a bad sample: row and column
/// effects dominate), or all pairs where there are few. `wanted`: so many values above the quantile, about.
/// The same for every thread count and kernel.
/// `make_sieve` (may be null): makes a sieve for a thread; only values of pairs that it admits are drawn, the
/// quantile is still one of all pairs.
using MakeSieve = std::function<EdgeSieve()>;
TailSample sample_tail(const FinePrepared& fine, double quantile, double wanted, const Kernel& kernel,
                       std::uint64_t seed, const RunContext& run, const MakeSieve* make_sieve = nullptr);

/// Where the median of the quantiles of 3-row chunks lies (threshold mode paper), from some chunks
/// or all of them.
Band sample_chunk_median(const FinePrepared& fine, double quantile, const Kernel& kernel, double deviations,
                         std::uint64_t seed, const RunContext& run);

}  // namespace gcbs
