// The steps of packing, each in the file of its name.
#pragma once

#include "ordering/pack_state.h"

namespace gcbs {

/// Blocks grown one vertex after the other; `seeds` is the order in which blocks are begun. `rules` may be
/// null; where they leave nobody, they are broken.
std::vector<Vertex> grow_blocks(const PackModel& model, std::size_t block_size, std::span<const Vertex> seeds,
                                const BlockRules* rules, const RunContext& run);

struct SwapOptions {
  std::size_t hot_passes = 0, cold_passes = 12;
  /// Losses are accepted as by a system of this temperature in the first hot pass, falling to 0 after the
  /// last. In units of what the edges are worth at the start, a vertex.
  double heat = 0;
  /// Cold passes end when fewer than this share of the vertices moved.
  double least_moved = 0.002;
  std::uint64_t seed = 0;
};

/// Swaps vertices until few gain, or the passes are over. Returns how many swaps were made.
std::size_t improve_by_swaps(PackState& state, const SwapOptions& options, const BlockRules* rules,
                             const RunContext& run);

}  // namespace gcbs
