#include "cpu/cache.h"

#include <unistd.h>

namespace gcbs {

std::size_t level2_cache_bytes() {
  constexpr long kCommon = 512 * 1024;
#ifdef _SC_LEVEL2_CACHE_SIZE
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return static_cast<std::size_t>(bytes > 0 ? bytes : kCommon);
#else
  return kCommon;
#endif
}

}  // namespace gcbs
