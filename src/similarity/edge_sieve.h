// Which pairs may be edges: admissible ones, beyond the rank window of their row.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "similarity/pair_sieve.h"

namespace gcbs {

/// The last column of a row that the rank window skips: edges come after it, by s, then by index. Minus
/// infinity: the row has no more admissible columns than are skipped, so it has no edges.
struct RankCut {
  double value;
  Vertex column;
};

/// What find_edges is to count. Borrows.
struct EdgeFilter {
  const PairJudge& judge;
  std::span<const RankCut> cuts;  ///< one a row of X; empty: nothing is skipped
  std::uint64_t wanted;           ///< so many of the largest admissible values, or all
};

/// A worker's buffers.
class EdgeSieve {
 public:
  EdgeSieve(const EdgeFilter& filter, const SieveOperands& operands, const Rows& x, const Rows& y,
            const Kernel& kernel)
      : filter_(filter), sieve_(filter.judge, operands, kernel), definition_(x, y) {}

  /// Of rows of X and columns of Y, with what is known of s, in a row's order or any other.
  void judge(std::span<const SeenPair> pairs, std::span<std::uint8_t> admitted) {
    sieve_.judge(pairs, admitted);
    if (filter_.cuts.empty()) return;
    for (std::size_t p = 0; p < pairs.size(); ++p)
      if (admitted[p] != 0) admitted[p] = is_beyond(filter_.cuts[pairs[p].row], pairs[p]);
  }

 private:
  bool is_beyond(const RankCut& cut, const SeenPair& seen) {
    if (seen.low > cut.value) return false;
    if (seen.high < cut.value) return true;
    const FinePair pair{seen.row, seen.col};
    double s = 0;
    definition_.evaluate({&pair, 1}, {&s, 1});
    return s < cut.value || (s == cut.value && seen.col > cut.column);
  }

  const EdgeFilter& filter_;
  PairSieve sieve_;
  Definition definition_;
};

}  // namespace gcbs
