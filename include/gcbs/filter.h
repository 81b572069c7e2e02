// Which negatives count (contract C10): neither of one group, nor suspected to be positives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gcbs/matrix.h"

namespace gcbs {

/// Rows of one group are no negatives of each other. A pair is suspect where the larger of s(i,j), s(j,i)
/// exceeds what the margins allow for the smaller of its two positives, p. What is neither is admissible.
struct FilterOptions {
  std::vector<std::vector<std::int64_t>> groups;  ///< lists of one id a row: equal ids, one group
  bool duplicates = false;                        ///< rows with equal x, or equal y, are of one group

  std::optional<double> relative_margin;  ///< p - V |p|, 0 <= V <= 1
  std::optional<double> absolute_margin;  ///< p - V
  std::optional<double> max_score;

  /// Judge the largest of s(x_i,y_j), s(x_j,y_i), s(x_i,x_j), s(y_i,y_j).
  bool symmetric = false;
  /// Judge by the embeddings of another model, and by its positives. Both or neither; as many rows as X,
  /// normalised here. Borrowed: the memory outlives the call.
  std::optional<MatrixView> guide_x, guide_y;

  /// Rank window: the R most similar admissible columns of each row of X are no edges of that row (equal
  /// ones by index). Of edges only: such a pair may still share a batch, and counts in losses.
  std::size_t skip_top = 0;

  bool has_margins() const noexcept { return relative_margin || absolute_margin || max_score; }
  bool is_guided() const noexcept { return guide_x || guide_y; }
  /// Whether anything is asked for.
  bool is_on() const noexcept {
    return !groups.empty() || duplicates || has_margins() || symmetric || is_guided() || skip_top > 0;
  }
};

}  // namespace gcbs
