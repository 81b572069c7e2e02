// AVX-512 peaks, 12 x 32 tile: 24 accumulators, two registers of y, one broadcast of x.
#include <immintrin.h>

#include <cstdint>

#include "peaks.h"

namespace gcbs::bench {
namespace {

constexpr int kRows = 12, kColumns = 32, kInt8Depth = 512, kFloatDepth = 128;

void multiply_int8(const void* x_data, const void* y_data, void* sums, long passes) noexcept {
  __m512i low[kRows] = {}, high[kRows] = {};
  for (long pass = 0; pass < passes; ++pass) {
    const auto* x = static_cast<const std::int32_t*>(x_data);
    const auto* y = static_cast<const std::uint8_t*>(y_data);
    for (int k = 0; k < kInt8Depth; k += 4, x += kRows, y += 4 * kColumns) {
      const __m512i y_low = _mm512_load_si512(y), y_high = _mm512_load_si512(y + 64);
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        const __m512i value = _mm512_set1_epi32(x[r]);
        low[r] = _mm512_dpbusd_epi32(low[r], value, y_low);
        high[r] = _mm512_dpbusd_epi32(high[r], value, y_high);
      }
    }
  }
  auto* out = static_cast<std::int32_t*>(sums);
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    _mm512_storeu_si512(out + kColumns * r, low[r]);
    _mm512_storeu_si512(out + kColumns * r + 16, high[r]);
  }
}

void multiply_float(const void* x_data, const void* y_data, void* sums, long passes) noexcept {
  __m512 low[kRows] = {}, high[kRows] = {};
  for (long pass = 0; pass < passes; ++pass) {
    const auto* x = static_cast<const float*>(x_data);
    const auto* y = static_cast<const float*>(y_data);
    for (int k = 0; k < kFloatDepth; ++k, x += kRows, y += kColumns) {
      const __m512 y_low = _mm512_load_ps(y), y_high = _mm512_load_ps(y + 16);
#pragma GCC unroll 12
      for (int r = 0; r < kRows; ++r) {
        const __m512 value = _mm512_set1_ps(x[r]);
        low[r] = _mm512_fmadd_ps(value, y_low, low[r]);
        high[r] = _mm512_fmadd_ps(value, y_high, high[r]);
      }
    }
  }
  auto* out = static_cast<float*>(sums);
#pragma GCC unroll 12
  for (int r = 0; r < kRows; ++r) {
    _mm512_storeu_ps(out + kColumns * r, low[r]);
    _mm512_storeu_ps(out + kColumns * r + 16, high[r]);
  }
}

constexpr PeakKernel kPeaks[] = {
    {"vpdpbusd zmm", Sums::int32, kRows, kColumns, kInt8Depth, 4, 4, multiply_int8},
    {"vfmadd231ps zmm", Sums::fp32, kRows, kColumns, kFloatDepth, 1, 1, multiply_float},
};

}  // namespace

PeakKernels avx512_vnni_peaks() noexcept { return {kPeaks, kPeaks + 2}; }

}  // namespace gcbs::bench
