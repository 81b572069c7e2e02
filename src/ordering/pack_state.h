// An assignment of vertices to blocks of fixed sizes, and what a swap would change.
#pragma once

#include <span>
#include <vector>

#include "ordering/pack_model.h"

namespace gcbs {

/// Says which rows may not share a block. May be asked often; none of it is remembered.
class BlockRules {
 public:
  virtual ~BlockRules() = default;
  /// Whether v may join these rows, `leaving` (may be v itself: none) not counted.
  virtual bool may_join(Vertex v, std::span<const Vertex> members, Vertex leaving) const = 0;
};

/// What a scan of a neighbour reads: 12 bytes, one line of cache.
struct Seat {
  Vertex block;
  float share_x, share_y;  ///< 1 / X, 1 / Y
};

/// Blocks are consecutive pieces of `members`: all of them have the block size, the last what remains.
class PackState {
 public:
  PackState(const PackModel& model, std::size_t block_size, std::vector<Vertex> order, const RunContext& run);

  std::size_t blocks() const noexcept { return (order_.size() + block_size_ - 1) / block_size_; }
  std::span<const Vertex> members(std::size_t block) const noexcept {
    const std::size_t first = block * block_size_;
    return {order_.data() + first, std::min(block_size_, order_.size() - first)};
  }
  const Seat& seat(Vertex v) const noexcept { return seats_[v]; }
  const std::vector<Vertex>& order() const noexcept { return order_; }

  double sum_x(Vertex v) const noexcept { return sums_[v].x; }
  double sum_y(Vertex v) const noexcept { return sums_[v].y; }

  /// The sums of one vertex taken anew, so that roundings do not pile up.
  void set_sums(Vertex v, double x, double y) noexcept;

  /// What the objective gains when u and v, of different blocks, change places.
  double gain_of_swap(Vertex u, Vertex v);
  /// Does it. The gain must have been asked for just before.
  void swap(Vertex u, Vertex v);

  /// The sum of log X_i + log Y_i, less that of the bases: 0 for blocks without an edge.
  double objective() const noexcept;

 private:
  struct Sums {
    double x, y;
  };

  void add_change(Vertex j, double x, double y) {
    if (stamp_of_[j] != stamp_) {
      stamp_of_[j] = stamp_;
      changes_[j] = {0, 0};
      changed_.push_back(j);
    }
    changes_[j].x += x;
    changes_[j].y += y;
  }
  Sums move(Vertex v, Vertex from, Vertex to, Vertex partner);
  void take_sums();

  const PackModel& model_;
  std::size_t block_size_;
  std::vector<Vertex> order_;
  Array<Vertex> place_of_;
  Array<Seat> seats_;
  Array<Sums> sums_, changes_;
  Array<std::uint32_t> stamp_of_;
  std::uint32_t stamp_ = 0;
  std::vector<Vertex> changed_;
  Sums new_u_{}, new_v_{};  ///< of the swap that was asked for last
};

}  // namespace gcbs
