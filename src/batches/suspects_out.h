// Suspects kept out of batches where that is possible, with bounded effort.
#pragma once

#include "batches/seating.h"
#include "batches/suspect_test.h"

namespace gcbs {

/// Swaps rows of different batches while that lowers the number of suspect pairs inside batches; groups that
/// are apart stay apart. Returns the pairs that are left. Deterministic for every thread count.
std::uint64_t keep_suspects_out(Seating& seating, const SuspectTest& is_suspect, const RunContext& run);

}  // namespace gcbs
