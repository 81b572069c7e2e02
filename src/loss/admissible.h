// Which negatives count (contract C10).
#pragma once

#include "base/run.h"
#include "gcbs/loss.h"
#include "similarity/groups.h"

namespace gcbs {

struct Admissible {
  Groups groups;
  /// What similarities may not exceed, by pair; the smaller of two pairs' limits counts. Empty: no margins.
  Array<double> limit;

  bool has_margins() const noexcept { return !limit.empty(); }
};

/// `positives`: s(i,i). Throws Error for margins out of range and lists of ids of the wrong length.
Admissible make_admissible(const FilterOptions& options, const Array<double>& positives,
                           const RunContext& run);

/// What is wrong whatever the data.
void check_filter(const FilterOptions& options);

}  // namespace gcbs
