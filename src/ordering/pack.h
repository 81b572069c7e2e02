// Blocks that maximise the objective: growth, then swaps (docs/orders.md).
#pragma once

#include "ordering/pack_state.h"

namespace gcbs {

struct PackedOrder {
  Order order;  ///< consecutive pieces of the block size are the blocks, the last what remains
  double objective = 0;
  std::size_t swaps = 0;
};

/// Packs the vertices into blocks. `rules` may be null. The same bytes for every thread count; never below
/// the objective of options.from, a permutation, where that is given and keeps the rules.
PackedOrder order_pack(const PackModel& model, const PackOptions& options, std::size_t block_size,
                       const BlockRules* rules, std::uint64_t seed, const RunContext& run);

/// The most that packing allocates at once beside its graph, the weights included, in bytes.
double pack_bytes(std::size_t vertices, double edges, std::size_t block_size, unsigned threads) noexcept;

}  // namespace gcbs
