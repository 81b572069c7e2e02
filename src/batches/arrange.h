// Which rows share a batch, decided by chance: blocks mixed, a share drawn from all rows, the sequence of
// batches. All are permutations of the rows, seeded, the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "similarity/groups.h"

namespace gcbs {

/// Consecutive blocks of `block` rows, the last one what remains, put into batches of `batch_size`, a
/// multiple of it, in random order. The short block ends the short batch, the last one. Where a block brings
/// a mate of a row that is in the batch, one of the next few takes its place; with none left, it stays.
std::vector<Vertex> mix_blocks(const std::vector<Vertex>& order, std::size_t block, std::size_t batch_size,
                               const Groups& groups, std::uint64_t seed);

/// In every batch round(share * size) random places; the rows in all of them are shuffled.
std::vector<Vertex> draw_share(std::vector<Vertex> order, std::size_t batch_size, double share,
                               std::uint64_t seed);

/// Whole batches in another sequence for every epoch; a short last one stays last.
std::vector<Vertex> shuffle_batches(const std::vector<Vertex>& order, std::size_t batch_size,
                                    std::uint64_t seed, std::uint64_t epoch);

}  // namespace gcbs
