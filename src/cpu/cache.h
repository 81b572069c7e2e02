#pragma once

#include <cstddef>

namespace gcbs {

/// Size of a core's level 2 cache; a common size where the system does not say.
std::size_t level2_cache_bytes();

}  // namespace gcbs
