// AVX2 peaks, 6 x 16 tile: 12 accumulators, two registers of y, one broadcast of x, one product.
//
// int8: vpmaddubsw + vpaddw. Sums wrap modulo 2^16, which costs nothing and is what the join's kernel
// does: only the true sum of a lane has to fit. Both multiplies are issued before both adds.
#include <immintrin.h>

#include <cstdint>

#include "peaks.h"

namespace gcbs::bench {
namespace {

constexpr int kRows = 6, kColumns = 16, kInt8Depth = 768, kFloatDepth = 256;

void multiply_int8(const void* x_data, const void* y_data, void* sums, long passes) noexcept {
  __m256i low[kRows] = {}, high[kRows] = {};
  for (long pass = 0; pass < passes; ++pass) {
    const auto* x = static_cast<const std::int32_t*>(x_data);
    const auto* y = static_cast<const __m256i*>(y_data);
    for (int k = 0; k < kInt8Depth; k += 4, x += kRows, y += 2) {
      const __m256i y_low = _mm256_load_si256(y), y_high = _mm256_load_si256(y + 1);
#pragma GCC unroll 6
      for (int r = 0; r < kRows; ++r) {
        const __m256i value = _mm256_set1_epi32(x[r]);
        const __m256i product_low = _mm256_maddubs_epi16(value, y_low);
        const __m256i product_high = _mm256_maddubs_epi16(value, y_high);
        low[r] = _mm256_add_epi16(low[r], product_low);
        high[r] = _mm256_add_epi16(high[r], product_high);
      }
    }
  }
  auto* out = static_cast<__m256i*>(sums);
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    _mm256_storeu_si256(out + 2 * r, low[r]);
    _mm256_storeu_si256(out + 2 * r + 1, high[r]);
  }
}

void multiply_float(const void* x_data, const void* y_data, void* sums, long passes) noexcept {
  __m256 low[kRows] = {}, high[kRows] = {};
  for (long pass = 0; pass < passes; ++pass) {
    const auto* x = static_cast<const float*>(x_data);
    const auto* y = static_cast<const float*>(y_data);
    for (int k = 0; k < kFloatDepth; ++k, x += kRows, y += kColumns) {
      const __m256 y_low = _mm256_load_ps(y), y_high = _mm256_load_ps(y + 8);
#pragma GCC unroll 6
      for (int r = 0; r < kRows; ++r) {
        const __m256 value = _mm256_broadcast_ss(x + r);
        low[r] = _mm256_fmadd_ps(value, y_low, low[r]);
        high[r] = _mm256_fmadd_ps(value, y_high, high[r]);
      }
    }
  }
  auto* out = static_cast<float*>(sums);
#pragma GCC unroll 6
  for (int r = 0; r < kRows; ++r) {
    _mm256_storeu_ps(out + kColumns * r, low[r]);
    _mm256_storeu_ps(out + kColumns * r + 8, high[r]);
  }
}

constexpr PeakKernel kPeaks[] = {
    {"vpmaddubsw + vpaddw", Sums::int16x2, kRows, kColumns, kInt8Depth, 4, 4, multiply_int8},
    {"vfmadd231ps ymm", Sums::fp32, kRows, kColumns, kFloatDepth, 1, 1, multiply_float},
};

}  // namespace

PeakKernels avx2_peaks() noexcept { return {kPeaks, kPeaks + 2}; }

}  // namespace gcbs::bench
