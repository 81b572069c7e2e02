// AMX int8 peak: 2 x 2 tiles of 16 x 16 sums, 64 deep a step; 32 KiB of operands, L1 of these chips is 48.
#include <immintrin.h>

#include <cstdint>

#include "peaks.h"

namespace gcbs::bench {
namespace {

constexpr int kRows = 32, kColumns = 32, kDepth = 512;

struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

void multiply(const void* x_data, const void* y_data, void* sums, long passes) noexcept {
  TileConfig config;
  // The barrier keeps the compiler from dropping the stores into config (seen with g++ 12).
  __asm__ volatile("" : : "r"(&config) : "memory");
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (long pass = 0; pass < passes; ++pass) {
    const auto* x = static_cast<const std::uint8_t*>(x_data);
    const auto* y = static_cast<const std::uint8_t*>(y_data);
    for (int k = 0; k < kDepth; k += 64, x += 64 * kRows, y += 64 * kColumns) {
      _tile_loadd(4, x, 64);
      _tile_loadd(6, y, 4 * kColumns);
      _tile_loadd(7, y + 64, 4 * kColumns);
      _tile_dpbusd(0, 4, 6);
      _tile_dpbusd(1, 4, 7);
      _tile_loadd(5, x + 16 * 64, 64);
      _tile_dpbusd(2, 5, 6);
      _tile_dpbusd(3, 5, 7);
    }
  }
  auto* out = static_cast<std::int32_t*>(sums);
  _tile_stored(0, out, 4 * kColumns);
  _tile_stored(1, out + 16, 4 * kColumns);
  _tile_stored(2, out + 16 * kColumns, 4 * kColumns);
  _tile_stored(3, out + 16 * kColumns + 16, 4 * kColumns);
  _tile_release();
}

constexpr PeakKernel kPeaks[] = {
    {"tdpbusd 2x2 tiles", Sums::int32, kRows, kColumns, kDepth, 64, 4, multiply},
};

}  // namespace

PeakKernels amx_int8_peaks() noexcept { return {kPeaks, kPeaks + 1}; }

}  // namespace gcbs::bench
