#include "cpu/amx_self_test.h"

#if defined(__AMX_INT8__)

#include <immintrin.h>

#include <cstdint>

namespace gcbs {
namespace {
struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
}  // namespace

bool amx_self_test() noexcept {
  alignas(64) std::int8_t a[16][64], b[16][64];
  alignas(64) std::int32_t c[16][16];
  for (int r = 0; r < 16; ++r)
    for (int k = 0; k < 64; ++k) {
      a[r][k] = static_cast<std::int8_t>((r * 37 + k * 11) % 255 - 127);
      b[r][k] = static_cast<std::int8_t>((r * 53 + k * 29) % 255 - 127);
    }
  TileConfig config;
  for (int t = 0; t < 3; ++t) {
    config.row_bytes[t] = 64;
    config.rows[t] = 16;
  }
  // The barrier keeps the compiler from dropping the stores into config (seen with g++ 12).
  __asm__ volatile("" : : "r"(&config) : "memory");
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_loadd(1, a, 64);
  _tile_loadd(2, b, 64);
  _tile_dpbssd(0, 1, 2);
  _tile_stored(0, c, 64);
  _tile_release();
  for (int r = 0; r < 16; ++r)
    for (int n = 0; n < 16; ++n) {
      std::int32_t sum = 0;
      for (int k = 0; k < 64; ++k) sum += a[r][k] * b[k / 4][n * 4 + k % 4];
      if (sum != c[r][n]) return false;
    }
  return true;
}

}  // namespace gcbs

#else

namespace gcbs {
bool amx_self_test() noexcept { return false; }
}  // namespace gcbs

#endif
