// AMX: 32 rows x 32 columns in four tiles of 16 x 16 int32.
//
// A step of 64 bytes loads two tiles of X (16 rows x 64 bytes each, streamed: the block of X lives
// in L2) and two of Y (16 lines of 64 bytes each: a panel lives in L1), and multiplies each with
// each: tdpbssd, signed by signed, no saturation. The four results are stored straight into the row-major
// products. The compare runs one pair of groups behind, a few rows after each step, so that it hides
// behind the multiplications. An odd last group is multiplied alone.
#include <immintrin.h>

#include "similarity/kernels/kernel.h"

namespace gcbs {
namespace {

constexpr std::size_t kRows = 16, kColumns = 32, kTileBytes = 1024;

struct alignas(64) TileConfig {
  std::uint8_t palette = 1, start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};

void begin() noexcept {
  TileConfig config;
  for (int t = 0; t < 8; ++t) {
    config.row_bytes[t] = 64;
    config.rows[t] = 16;
  }
  // The barrier keeps the compiler from dropping the stores into config (seen with g++ 12).
  __asm__ volatile("" : : "r"(&config) : "memory");
  _tile_loadconfig(&config);
}

void end() noexcept { _tile_release(); }

#include "similarity/kernels/avx512_compare.inc"

/// Masks of rows [first, last) whose products are stored.
inline void compare(const ScanArguments& args, std::size_t first, std::size_t last,
                    const ColumnLimits& col_low, const ColumnLimits& col_high) {
  for (std::size_t row = first; row < last; ++row) {
    const __m512i low = _mm512_loadu_si512(args.products + row * kColumns);
    const __m512i high = _mm512_loadu_si512(args.products + row * kColumns + 16);
    args.masks[row] = above(low, high, col_low, args.row_low[row]);
    args.sure[row] = above(low, high, col_high, args.row_high[row]);
  }
}

void scan(const ScanArguments& args) noexcept {
  const ColumnLimits col_low(args.col_low), col_high(args.col_high);
  const std::size_t tiles = args.steps / 16, sub_panel = args.steps * 64;
  const std::size_t pairs = args.groups / 2;
  const std::size_t lines_a_pair = pairs == 0 ? 0 : (2 * args.steps + pairs - 1) / pairs;
  const std::size_t rows_a_tile = (2 * kRows + tiles - 1) / tiles;
  std::size_t compared = 0;  // rows whose masks are written
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const std::uint8_t* x = args.x + 2 * pair * args.group_bytes;
    if (args.y_next != nullptr)
      for (std::size_t l = pair * lines_a_pair; l < (pair + 1) * lines_a_pair && l < 2 * args.steps; ++l)
        _mm_prefetch(reinterpret_cast<const char*>(args.y_next + l * 64), _MM_HINT_T1);
    const std::size_t stored = 2 * pair * kRows;  // rows whose products are stored
    std::int32_t* out = args.products + stored * kColumns;
    if (args.add) {
      _tile_loadd(0, out, kColumns * 4);
      _tile_loadd(1, out + 16, kColumns * 4);
      _tile_loadd(2, out + kRows * kColumns, kColumns * 4);
      _tile_loadd(3, out + kRows * kColumns + 16, kColumns * 4);
    } else {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
    }
    for (std::size_t k = 0; k < tiles; ++k) {
      _tile_stream_loadd(4, x + k * kTileBytes, 64);
      _tile_stream_loadd(5, x + args.group_bytes + k * kTileBytes, 64);
      _tile_loadd(6, args.y + k * kTileBytes, 64);
      _tile_loadd(7, args.y + sub_panel + k * kTileBytes, 64);
      _tile_dpbssd(0, 4, 6);
      _tile_dpbssd(1, 4, 7);
      _tile_dpbssd(2, 5, 6);
      _tile_dpbssd(3, 5, 7);
      const std::size_t next = compared + rows_a_tile < stored ? compared + rows_a_tile : stored;
      compare(args, compared, next, col_low, col_high);
      compared = next;
    }
    _tile_stored(0, out, kColumns * 4);
    _tile_stored(1, out + 16, kColumns * 4);
    _tile_stored(2, out + kRows * kColumns, kColumns * 4);
    _tile_stored(3, out + kRows * kColumns + 16, kColumns * 4);
  }
  if (args.groups % 2 != 0) {
    const std::uint8_t* x = args.x + (args.groups - 1) * args.group_bytes;
    std::int32_t* out = args.products + (args.groups - 1) * kRows * kColumns;
    if (args.add) {
      _tile_loadd(0, out, kColumns * 4);
      _tile_loadd(1, out + 16, kColumns * 4);
    } else {
      _tile_zero(0);
      _tile_zero(1);
    }
    for (std::size_t k = 0; k < tiles; ++k) {
      _tile_loadd(4, x + k * kTileBytes, 64);
      _tile_loadd(6, args.y + k * kTileBytes, 64);
      _tile_loadd(7, args.y + sub_panel + k * kTileBytes, 64);
      _tile_dpbssd(0, 4, 6);
      _tile_dpbssd(1, 4, 7);
    }
    _tile_stored(0, out, kColumns * 4);
    _tile_stored(1, out + 16, kColumns * 4);
  }
  compare(args, compared, args.groups * kRows, col_low, col_high);
}

#include "similarity/kernels/avx512_fine.inc"

/// 16 rows x 16 columns of int16 as two signed digits: high x high, both mixed products together, low x low
/// in three tiles. Their int32 sums are exact, so is the total in float64; it is rounded once.
void dense(const DenseArguments& args) noexcept {
  alignas(64) std::int32_t sums[3][16 * 16];
  const std::size_t chunks = args.depth / 64;
  const __m512d square = _mm512_set1_pd(65536.0), unit = _mm512_set1_pd(256.0);
  for (std::size_t row = 0; row < args.rows; row += 16) {
    const std::uint8_t* x = args.x + row * args.row_bytes;
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    for (std::size_t c = 0; c < chunks; ++c) {
      _tile_loadd(4, x + 2 * c * kTileBytes, 64);
      _tile_loadd(5, x + (2 * c + 1) * kTileBytes, 64);
      _tile_loadd(6, args.y + 2 * c * kTileBytes, 64);
      _tile_loadd(7, args.y + (2 * c + 1) * kTileBytes, 64);
      _tile_dpbssd(0, 4, 6);
      _tile_dpbssd(1, 4, 7);
      _tile_dpbssd(2, 5, 7);
      _tile_dpbssd(1, 5, 6);
    }
    _tile_stored(0, sums[0], 64);
    _tile_stored(1, sums[1], 64);
    _tile_stored(2, sums[2], 64);
    for (std::size_t i = 0; i < 16 * 16; i += 8) {
      const auto wide = [&](int digit) {
        return _mm512_cvtepi32_pd(_mm256_load_si256(reinterpret_cast<const __m256i*>(sums[digit] + i)));
      };
      const __m512d total =
          _mm512_add_pd(_mm512_add_pd(_mm512_mul_pd(wide(0), square), _mm512_mul_pd(wide(1), unit)), wide(2));
      _mm256_storeu_ps(args.products + row * 16 + i, _mm512_cvtpd_ps(total));
    }
  }
}

#define GCBS_VECTOR_BYTES 64
#include "similarity/kernels/exp_sums.inc"

}  // namespace

const Kernel kAmxInt8Kernel{"amx_int8",          kAmxInt8Shape, begin, end,      scan,    fine,
                            DenseLayout::digits, kRows,         dense, exp_sums, 0.00055, 0.016};

}  // namespace gcbs
