// Whether groups can be kept apart at all.
#pragma once

#include <cstddef>
#include <string>

#include "similarity/groups.h"

namespace gcbs {

/// Throws Error(input) that names the group where some list cannot be kept apart in batches of `batch_size`,
/// the last one what remains. `ids` (may be empty): the lists that the groups were made of, for the message.
void check_feasible(const Groups& groups, std::span<const GroupIds> ids, std::size_t rows,
                    std::size_t batch_size);

/// What errors call the group of a row: "group 17".
std::string name_of_group(const Groups& groups, std::span<const GroupIds> ids, std::size_t list, Vertex row);

}  // namespace gcbs
