// The steps of packing, each in the file of its name.
#pragma once

#include "ordering/pack_state.h"

namespace gcbs {

/// Blocks grown one vertex after the other; `seeds` is the order in which blocks are begun. `rules` may be
/// null; where they leave nobody, they are broken.
std::vector<Vertex> grow_blocks(const PackModel& model, std::size_t block_size, std::span<const Vertex> seeds,
                                const BlockRules* rules, const RunContext& run);

struct SwapOptions {
  std::size_t most_passes = 10;
  /// Passes end when fewer than this share of the vertices moved.
  double least_moved = 0.001;
  /// Losses are accepted as by a system of this temperature in the first pass, falling to 0 in the last.
  double heat = 0;
  std::uint64_t seed = 0;
};

/// Swaps vertices until none gains, or the passes are over. Returns how many were made.
std::size_t improve_by_swaps(const PackModel& model, PackState& state, const SwapOptions& options,
                             const BlockRules* rules, const RunContext& run);

}  // namespace gcbs
