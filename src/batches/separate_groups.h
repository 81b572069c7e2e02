// Groups kept apart (contract C10): rows change batches until no two of one group share one.
#pragma once

#include "batches/seating.h"

namespace gcbs {

/// Swaps rows of different batches until no batch holds mates. One list that can be kept apart always is;
/// several lists: a bounded search. Throws Error(input) that names the group where it fails. `ids` (may be
/// empty): the lists that the groups were made of, for messages. Deterministic.
void separate_groups(Seating& seating, std::span<const GroupIds> ids, std::size_t batch_size,
                     const RunContext& run);

}  // namespace gcbs
