// An assignment of vertices to blocks of fixed sizes, and what a swap would change.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
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

/// What a scan of a neighbour reads: 8 bytes, for the cache. Shares, 1 / X and 1 / Y, are the upper half of a
/// float32: good enough for estimates.
class Seat {
 public:
  Vertex block = 0;

  float share_x() const noexcept { return widen(share_x_); }
  float share_y() const noexcept { return widen(share_y_); }
  void set_shares(double x, double y) noexcept {
    share_x_ = shorten(x);
    share_y_ = shorten(y);
  }

 private:
  static float widen(std::uint16_t half) noexcept {
    return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
  }
  static std::uint16_t shorten(double share) noexcept {
    return static_cast<std::uint16_t>((std::bit_cast<std::uint32_t>(static_cast<float>(share)) + 0x8000u) >>
                                      16);
  }
  std::uint16_t share_x_ = 0, share_y_ = 0;
};
static_assert(sizeof(Seat) == 8);

struct AnchorSums {
  double x, y;
};

class SwapTrial;

/// Blocks are consecutive pieces of `members`: all of them have the block size, the last what remains.
class PackState {
 public:
  PackState(const PackModel& model, std::size_t block_size, std::vector<Vertex> order, const RunContext& run);

  const PackModel& model() const noexcept { return model_; }
  std::size_t vertices() const noexcept { return order_.size(); }
  std::size_t block_size() const noexcept { return block_size_; }
  std::size_t blocks() const noexcept { return (order_.size() + block_size_ - 1) / block_size_; }
  std::span<const Vertex> members(std::size_t block) const noexcept {
    const std::size_t first = block * block_size_;
    return {order_.data() + first, std::min(block_size_, order_.size() - first)};
  }
  const Seat& seat(Vertex v) const noexcept { return seats_[v]; }
  /// Where in its block a vertex stands.
  Vertex place(Vertex v) const noexcept { return places_[v]; }
  const AnchorSums& sums(Vertex v) const noexcept { return sums_[v]; }
  const std::vector<Vertex>& order() const noexcept { return order_; }

  /// Makes the swap whose gain the trial was asked for last, on this state as it is.
  void swap(const SwapTrial& trial);

  /// What is known of pairs without an edge; null: nothing.
  const BlockSums* unseen() const noexcept { return unseen_ ? &*unseen_ : nullptr; }

  /// The sum of log X_i + log Y_i, less that of the bases: 0 for blocks without an edge.
  double worth_of_edges() const noexcept;
  /// The same, and the term of pairs without an edge.
  double objective() const noexcept;

 private:
  void set_sums(Vertex v, AnchorSums sums) noexcept;
  void take_sums(const RunContext& run);

  const PackModel& model_;
  std::size_t block_size_;
  std::vector<Vertex> order_;
  Array<Seat> seats_;
  Array<Vertex> places_;
  Array<AnchorSums> sums_;
  std::optional<BlockSums> unseen_;
};

/// Swaps evaluated exactly. Only reads the state: workers with a trial each may go side by side.
class SwapTrial {
 public:
  explicit SwapTrial(const PackState& state);

  /// What the objective gains when u and v, of different blocks, change places.
  double gain(Vertex u, Vertex v);

  Vertex u() const noexcept { return u_; }
  Vertex v() const noexcept { return v_; }
  /// The members of the two blocks, u and v left out, whose sums the last swap changes.
  std::span<const Vertex> changed() const noexcept { return changed_; }

 private:
  friend class PackState;
  struct Change {
    std::uint32_t stamp;
    double x, y;
  };

  std::size_t slot_of(Vertex j) const noexcept {
    return state_.place(j) + (state_.seat(j).block == to_ ? state_.block_size() : 0);
  }
  Change& change_of(Vertex j) {
    Change& change = changes_[slot_of(j)];
    if (change.stamp != stamp_) {
      change = {stamp_, 0, 0};
      changed_.push_back(j);
    }
    return change;
  }
  AnchorSums move(Vertex v, Vertex to, Vertex partner);

  const PackState& state_;
  std::vector<Change> changes_;  ///< of the members of both blocks
  std::uint32_t stamp_ = 0;
  std::vector<Vertex> changed_;
  Vertex u_ = 0, v_ = 0, from_ = 0, to_ = 0;
  AnchorSums new_u_{}, new_v_{};
};

}  // namespace gcbs
