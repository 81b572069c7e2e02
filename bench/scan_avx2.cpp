// 32 values to one mask, then only the set bits are visited: hits are rare.
#include <immintrin.h>

#include "scan.h"

namespace gcbs::bench {

std::uint64_t* scan_avx2(const float* values, std::size_t count, float threshold, std::uint64_t row,
                         std::uint32_t first, std::uint64_t* out) noexcept {
  const __m256 t = _mm256_set1_ps(threshold);
  const auto above = [&](std::size_t j) {
    return static_cast<std::uint32_t>(
        _mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(values + j), t, _CMP_GT_OQ)));
  };
  std::size_t j = 0;
  for (; j + 32 <= count; j += 32) {
    std::uint32_t mask = above(j) | above(j + 8) << 8 | above(j + 16) << 16 | above(j + 24) << 24;
    for (; mask != 0; mask &= mask - 1)
      *out++ = row | (first + static_cast<std::uint32_t>(j) + static_cast<std::uint32_t>(_tzcnt_u32(mask)));
  }
  for (; j < count; ++j)
    if (values[j] > threshold) *out++ = row | (first + static_cast<std::uint32_t>(j));
  return out;
}

}  // namespace gcbs::bench
