// What a filter comes to, row by row: groups, and how similar a pair may be (contract C10).
#pragma once

#include <algorithm>

#include "base/run.h"
#include "gcbs/array.h"
#include "gcbs/filter.h"
#include "similarity/groups.h"

namespace gcbs {

struct Admissible {
  Groups groups;
  /// What similarities may not exceed, by pair; the smaller of two pairs' limits counts. Empty: no margins.
  Array<double> limit;

  bool has_margins() const noexcept { return !limit.empty(); }
  double limit_of(std::size_t i, std::size_t j) const noexcept { return std::min(limit[i], limit[j]); }
};

/// `positives`: s(i,i) of those who judge. Throws Error for margins out of range and lists of ids of the
/// wrong length. Equal rows (options.duplicates) are not looked for here: PairJudge does.
Admissible make_admissible(const FilterOptions& options, const Array<double>& positives,
                           const RunContext& run);

/// What is wrong whatever the data.
void check_filter(const FilterOptions& options);

}  // namespace gcbs
