// Which similarities a negative may have: floor < s <= ceiling of its row.
#pragma once

#include <span>

#include "gcbs/array.h"
#include "gcbs/mining.h"
#include "matrix/rows.h"
#include "mining/exclusions.h"

namespace gcbs {

struct ScoreWindow {
  double floor;           ///< -infinity: none
  Array<double> ceiling;  ///< one a row; empty: none

  /// To what each row may have at most by somebody else's rules; empty: they have none.
  void lower_ceiling(std::span<const double> highest, const RunContext& run);
};

/// The margins and scores of the options, as float64 decides them.
ScoreWindow find_score_window(const Rows& x, const Rows& y, const Exclusions& exclusions,
                              const MiningOptions& options, const RunContext& run);

/// The largest s of which float64 says s + margin <= positive. margin in [0, 2], |positive| <= 2.
double largest_within_margin(double positive, double margin);

}  // namespace gcbs
