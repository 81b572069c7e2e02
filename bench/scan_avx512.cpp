// 64 values to one mask, then only the set bits are visited: hits are rare.
#include <immintrin.h>

#include "scan.h"

namespace gcbs::bench {

std::uint64_t* scan_avx512(const float* values, std::size_t count, float threshold, std::uint64_t row,
                           std::uint32_t first, std::uint64_t* out) noexcept {
  const __m512 t = _mm512_set1_ps(threshold);
  const auto above = [&](std::size_t j) {
    return static_cast<std::uint64_t>(_mm512_cmp_ps_mask(_mm512_loadu_ps(values + j), t, _CMP_GT_OQ));
  };
  std::size_t j = 0;
  for (; j + 64 <= count; j += 64) {
    std::uint64_t mask = above(j) | above(j + 16) << 16 | above(j + 32) << 32 | above(j + 48) << 48;
    for (; mask != 0; mask &= mask - 1)
      *out++ = row | (first + static_cast<std::uint32_t>(j) + static_cast<std::uint32_t>(_tzcnt_u64(mask)));
  }
  for (; j < count; ++j)
    if (values[j] > threshold) *out++ = row | (first + static_cast<std::uint32_t>(j));
  return out;
}

}  // namespace gcbs::bench
