// Who is never a negative of whom: the own positive, and the positives of group-mates.
//
// Ids belong to the pairs. A row of the corpus stands for all pairs whose positive it is, perhaps none; where
// equal rows of the corpus are to count as one, for those of all its equals.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "gcbs/graph.h"
#include "similarity/groups.h"

namespace gcbs {

class Exclusions {
 public:
  /// Throws Error(input) where the positives or the ids do not fit `rows` rows and `columns` corpus rows.
  /// `first_equal`: for each corpus row the first one that it equals; empty: they all differ.
  Exclusions(std::size_t rows, std::size_t columns, const std::optional<std::vector<std::int64_t>>& positives,
             std::span<const GroupIds> groups, std::vector<std::uint32_t> first_equal = {});
  /// Row i is the positive of row i. `groups`: of the rows.
  Exclusions(std::size_t rows, Groups groups) : groups_(std::move(groups)) {
    if (!groups_.empty()) list_pairs(rows, rows);
  }

  Vertex positive(std::size_t row) const noexcept {
    return positives_.empty() ? static_cast<Vertex>(row) : positives_[row];
  }

  /// Over all columns of a row at most one step a pair and list, however the positives are shared.
  bool excludes(std::size_t row, std::size_t column) const noexcept {
    const std::size_t kind = first_equal(column);
    if (first_equal(positive(row)) == kind) return true;
    if (groups_.empty()) return false;
    for (Vertex p = offsets_[kind]; p < offsets_[kind + 1]; ++p)
      if (groups_.are_mates(row, pairs_[p])) return true;
    return false;
  }

 private:
  std::size_t first_equal(std::size_t column) const noexcept {
    return first_equal_.empty() ? column : first_equal_[column];
  }
  void list_pairs(std::size_t columns, std::size_t rows);

  std::vector<Vertex> positives_;  ///< empty: row i
  std::vector<std::uint32_t> first_equal_;
  Groups groups_;                        ///< of pairs
  std::vector<Vertex> offsets_, pairs_;  ///< the pairs of each corpus row; filled where there are groups
};

}  // namespace gcbs
