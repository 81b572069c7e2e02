// Which row sits in which batch, and what a change of seats does to groups and to edges.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/run.h"
#include "batches/group_counts.h"
#include "graph/graph.h"
#include "similarity/groups.h"

namespace gcbs {

/// An order cut into batches of `batch_size`, the last one what remains. Sizes never change: rows only swap.
class Seating {
 public:
  /// `graph` may be null: then no edges are counted. Borrows groups and graph.
  Seating(std::vector<Vertex> order, std::size_t batch_size, const Groups& groups, const Graph* graph,
          const RunContext& run);

  std::size_t rows() const noexcept { return order_.size(); }
  std::size_t batches() const noexcept { return (order_.size() + size_ - 1) / size_; }
  std::size_t batch_of(Vertex row) const noexcept { return place_[row] / size_; }
  std::size_t place_of(Vertex row) const noexcept { return place_[row]; }
  std::span<const Vertex> members(std::size_t batch) const noexcept {
    return std::span(order_).subspan(batch * size_, std::min(size_, order_.size() - batch * size_));
  }
  const std::vector<Vertex>& order() const noexcept { return order_; }
  std::vector<Vertex> take() { return std::move(order_); }
  const Groups& groups() const noexcept { return groups_; }
  const Graph* graph() const noexcept { return graph_; }

  /// No mate of `row`, itself not counted, sits in the batch.
  bool fits(Vertex row, std::size_t batch) const noexcept;
  bool has_mate(Vertex row) const noexcept { return !fits(row, batch_of(row)); }

  /// By how much a swap of two rows of different batches changes the number of rows too many: of each list,
  /// batch and group, all its rows but one.
  int swap_excess(Vertex a, Vertex b) const noexcept;
  void swap(Vertex a, Vertex b);

  /// Entries of `row`, of both directions, whose other end sits in the batch; 0 without a graph.
  std::int64_t edges_into(Vertex row, std::size_t batch) const noexcept;
  /// The same for its own batch, kept up to date.
  std::int64_t edges_inside(Vertex row) const noexcept { return graph_ == nullptr ? 0 : inside_[row]; }
  /// Entries inside batches that a swap loses; negative: it wins some.
  std::int64_t swap_loss(Vertex a, Vertex b) const noexcept;
  /// The other batches with the most entries of the row, nearer ones first where they have as many.
  std::vector<std::size_t> batches_of_neighbours(Vertex row, std::size_t most) const;

 private:
  /// Of rows that are alone in their group nothing is counted.
  bool is_counted(std::size_t list, Vertex row) const noexcept {
    return groups_.members(list, row).size() > 1;
  }
  std::uint64_t key(std::size_t list, Vertex row, std::size_t batch) const noexcept {
    return std::uint64_t{groups_.group_of(list, row)} * batches() + batch;
  }
  template <class Visit>
  void for_each_entry(Vertex row, Visit&& visit) const {
    for (const Vertex other : graph_->out.row(row)) visit(other);
    for (const Vertex other : graph_->in.row(row)) visit(other);
  }
  void move(Vertex row, std::size_t place);

  std::vector<Vertex> order_;
  std::size_t size_;
  const Groups& groups_;
  const Graph* graph_;
  std::vector<Vertex> place_;        ///< of each row
  std::vector<GroupCounts> counts_;  ///< a list
  std::vector<std::int32_t> inside_;
};

}  // namespace gcbs
