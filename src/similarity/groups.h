// Rows that belong together (contract C10): group-mates are never negatives of each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gcbs/graph.h"

namespace gcbs {

/// One id a row; several lists may be given (same query, same document).
using GroupIds = std::vector<std::int64_t>;

/// Two rows are mates where they have the same id in any list. Memory: O(rows) a list, whatever the groups.
class Groups {
 public:
  Groups() = default;
  /// Throws Error(input) for a list that has not `rows` ids.
  Groups(std::span<const GroupIds> lists, std::size_t rows);

  /// True where no two rows are mates.
  bool empty() const noexcept { return lists_.empty(); }
  bool are_mates(std::size_t i, std::size_t j) const noexcept;

  /// Lists that have mates at all.
  std::size_t lists() const noexcept { return lists_.size(); }
  Vertex group_of(std::size_t list, std::size_t row) const noexcept { return lists_[list].group_of[row]; }
  /// The rows that share the id of `row` in a list, ascending, itself included.
  std::span<const Vertex> members(std::size_t list, std::size_t row) const noexcept;

 private:
  struct List {
    std::vector<Vertex> group_of;  ///< of each row
    std::vector<Vertex> offsets;   ///< groups + 1
    std::vector<Vertex> members;   ///< group by group
  };
  std::vector<List> lists_;
};

}  // namespace gcbs
