// Who may be a negative of whom (contract C10), decided exactly as the float64 definition decides.
//
// PairJudge answers for one pair at a time from the rows themselves and holds O(rows) memory. Where many
// pairs are asked for, PairSieve (pair_sieve.h) decides most of them by int16 products.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "matrix/rows.h"
#include "similarity/admissible.h"
#include "similarity/definition.h"

namespace gcbs {

/// One kind of similarity that is judged: s(left_i, right_j), and s(left_j, right_i) where that may differ.
struct Judged {
  const Rows* left;
  const Rows* right;
  bool both_ways;
};

class PairJudge {
 public:
  /// Borrows x, y and the guide's memory. Throws Error for a filter that is wrong or does not fit the rows.
  PairJudge(const FilterOptions& options, const Rows& x, const Rows& y, const RunContext& run);
  PairJudge(const PairJudge&) = delete;
  PairJudge& operator=(const PairJudge&) = delete;

  /// Every pair of different rows is admissible.
  bool admits_all() const noexcept { return groups().empty() && !has_margins(); }
  bool has_margins() const noexcept { return admissible_.has_margins(); }
  bool is_guided() const noexcept { return guide_x_.has_value(); }

  /// Of the ids, and of equal rows where asked for.
  const Groups& groups() const noexcept { return admissible_.groups; }
  const Admissible& admissible() const noexcept { return admissible_; }

  /// Whether i and j may share a batch as negatives: different rows, not of one group, not suspect. The
  /// same for (j,i). Safe to call from several threads.
  bool admits(Vertex i, Vertex j) const { return i != j && !groups().are_mates(i, j) && !is_suspect(i, j); }
  bool is_suspect(Vertex i, Vertex j) const;

  /// The similarities that are judged, s(x_i,y_j) first; none without margins. Rows are the guide's if
  /// there is one.
  std::span<const Judged> judged() const noexcept { return judged_; }

 private:
  bool exceeds(std::size_t kind, Vertex i, Vertex j, double limit) const;

  std::optional<Rows> guide_x_, guide_y_;
  Admissible admissible_;
  std::vector<Judged> judged_;
  std::vector<Definition> near_;  ///< one a kind; only read
};

/// s(i,i) of every row.
Array<double> positives_of(const Rows& x, const Rows& y, const RunContext& run);

}  // namespace gcbs
