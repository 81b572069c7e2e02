// What the graph does not show: the pairs of a block that have no edge, all of them at once.
#pragma once

#include <cstdint>
#include <span>

#include "base/run.h"
#include "gcbs/array.h"
#include "gcbs/graph.h"
#include "similarity/operand.h"

namespace gcbs {

/// A term of the objective: weight times the sum over all blocks of x.y, x and y being the sums of the
/// block's centred rows as int16. Borrows the rows.
struct UnseenPairs {
  const FinePrepared* rows = nullptr;  ///< null: no such term
  double weight = 0;
};

/// The sums of every block.
class BlockSums {
 public:
  /// Consecutive pieces of the order are the blocks.
  BlockSums(const UnseenPairs& unseen, std::span<const Vertex> order, std::size_t block_size,
            const RunContext& run);

  /// What the term gains when u of block p and v of block q change places.
  double gain_of_swap(Vertex u, std::size_t p, Vertex v, std::size_t q) const noexcept;
  void swap(Vertex u, std::size_t p, Vertex v, std::size_t q) noexcept;

  double objective() const noexcept;

 private:
  const std::int16_t* x(Vertex v) const noexcept { return rows_.x.row(rows_.x.places.place(v)); }
  const std::int16_t* y(Vertex v) const noexcept { return rows_.y.row(rows_.y.places.place(v)); }
  const float* sum_x(std::size_t block) const noexcept { return sums_.data() + 2 * block * stride_; }
  const float* sum_y(std::size_t block) const noexcept { return sum_x(block) + stride_; }

  const FinePrepared& rows_;
  double weight_;
  std::size_t stride_;
  Array<float> sums_;  ///< of x, then of y, block by block
};

/// The fewest rows of a block for which sums are held: with fewer they would take more than the int8 rows
/// that have gone.
inline constexpr std::size_t kLeastSummedBlock = 4;

double block_sums_bytes(std::size_t vertices, std::size_t cols, std::size_t block_size) noexcept;

}  // namespace gcbs
