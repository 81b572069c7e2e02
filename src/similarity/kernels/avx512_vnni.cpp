// AVX512-VNNI: 12 rows x 32 columns in 24 accumulators of 16 int32 lanes.
//
// A step multiplies 4 bytes of each of 12 rows (broadcast) with two 64-byte lines of Y, one of each
// sub-panel: vpdpbusd (unsigned y, signed x) adds four products to an int32 lane, without
// saturation. y is shifted by 128 to be unsigned; a row's accumulators start at -128 * sum(q_x).
// Registers: 24 accumulators, 2 of Y, 1 broadcast, 27 of 32.
// Meanwhile the next panel and, where the re-check will want them, this panel's int16 columns are fetched.
// Measured (AMD EPYC, Zen 4, 2026-11-18, rand 20k, d = 768): exact joins reach 51 % of the vpdpbusd peak.
#include <immintrin.h>

#include "similarity/kernels/kernel.h"

namespace gcbs {
namespace {

constexpr std::size_t kRows = 12, kColumns = 32;

inline int load_int(const std::uint8_t* p) {
  int value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}

#include "similarity/kernels/avx512_compare.inc"

void scan(const ScanArguments& args) noexcept {
  const ColumnLimits col_low(args.col_low), col_high(args.col_high);
  const std::size_t sub_panel = args.steps * 64;
  const std::size_t lines_a_group = (2 * args.steps + args.groups - 1) / args.groups;
  const std::size_t fine_a_group = (args.fine_lines + args.groups - 1) / args.groups;
  for (std::size_t g = 0; g < args.groups; ++g) {
    const std::uint8_t* x = args.x + g * args.group_bytes;
    if (args.y_next != nullptr)
      for (std::size_t l = g * lines_a_group; l < (g + 1) * lines_a_group && l < 2 * args.steps; ++l)
        _mm_prefetch(reinterpret_cast<const char*>(args.y_next + l * 64), _MM_HINT_T1);
    for (std::size_t l = g * fine_a_group; l < (g + 1) * fine_a_group && l < args.fine_lines; ++l)
      _mm_prefetch(reinterpret_cast<const char*>(args.fine + l * 32), _MM_HINT_T1);
    __m512i low[kRows], high[kRows];
#pragma GCC unroll 12
    for (std::size_t r = 0; r < kRows; ++r) low[r] = high[r] = _mm512_set1_epi32(load_int(x + 4 * r));
    if (args.add) {
      const std::int32_t* before = args.products + g * kRows * kColumns;
#pragma GCC unroll 12
      for (std::size_t r = 0; r < kRows; ++r) {
        low[r] = _mm512_add_epi32(low[r], _mm512_loadu_si512(before + r * kColumns));
        high[r] = _mm512_add_epi32(high[r], _mm512_loadu_si512(before + r * kColumns + 16));
      }
    }
    x += 4 * kRows;
    const std::uint8_t* y = args.y;
    for (std::size_t step = 0; step < args.steps; ++step, x += 4 * kRows, y += 64) {
      const __m512i y0 = _mm512_load_si512(y), y1 = _mm512_load_si512(y + sub_panel);
#pragma GCC unroll 12
      for (std::size_t r = 0; r < kRows; ++r) {
        const __m512i xr = _mm512_set1_epi32(load_int(x + 4 * r));
        low[r] = _mm512_dpbusd_epi32(low[r], y0, xr);
        high[r] = _mm512_dpbusd_epi32(high[r], y1, xr);
      }
    }
#pragma GCC unroll 12
    for (std::size_t r = 0; r < kRows; ++r) {
      const std::size_t row = g * kRows + r;
      args.masks[row] = above(low[r], high[r], col_low, args.row_low[row]);
      args.sure[row] = above(low[r], high[r], col_high, args.row_high[row]);
      _mm512_storeu_si512(args.products + row * kColumns, low[r]);
      _mm512_storeu_si512(args.products + row * kColumns + 16, high[r]);
    }
  }
}

#include "similarity/kernels/avx512_fine.inc"

/// 24 rows x 16 columns: vpdpwssd, a lane after the other, as in avx2.cpp. 24 rows do not fit L1: packed in
/// lanes they come past once, one line a 16 products, where rows would come past 16 times.
constexpr std::size_t kTall = 24;

#define GCBS_ZERO(r) "vpxord %%zmm" r ", %%zmm" r ", %%zmm" r "\n\t"
#define GCBS_ROW(offset, r) "vpdpwssd " offset "(%[x])%{1to16%}, %%zmm30, %%zmm" r "\n\t"
#define GCBS_STORE(offset, r) "vmovdqa64 %%zmm" r ", " offset "(%[sums])\n\t"
// clang-format off
#define GCBS_TALL(DO, step)                                                                              \
  DO(step(0), "0")                                                                                       \
  DO(step(1), "1")                                                                                       \
  DO(step(2), "2")                                                                                       \
  DO(step(3), "3")                                                                                       \
  DO(step(4), "4") DO(step(5), "5") DO(step(6), "6") DO(step(7), "7") DO(step(8), "8") DO(step(9), "9")  \
      DO(step(10), "10") DO(step(11), "11") DO(step(12), "12") DO(step(13), "13") DO(step(14), "14")     \
          DO(step(15), "15") DO(step(16), "16") DO(step(17), "17") DO(step(18), "18") DO(step(19), "19") \
              DO(step(20), "20") DO(step(21), "21") DO(step(22), "22") DO(step(23), "23")
// clang-format on
#define GCBS_TEXT(text) #text
// Text of an address, where parentheses would mean something else.
#define GCBS_BY_4(r) GCBS_TEXT(4 * r)    // NOLINT(bugprone-macro-parentheses)
#define GCBS_BY_64(r) GCBS_TEXT(64 * r)  // NOLINT(bugprone-macro-parentheses)
#define GCBS_ZERO_ROW(offset, r) GCBS_ZERO(r)

/// The sums of one lane. In assembly: left to itself the compiler keeps a third of them in memory.
inline __attribute__((always_inline)) void dense_lane(const std::uint8_t* x, const std::uint8_t* y,
                                                      std::size_t steps, __m512i* sums) {
  __asm__ volatile(GCBS_TALL(GCBS_ZERO_ROW, GCBS_BY_4)
                   "1:\n\t"
                   "vmovdqa64 (%[y]), %%zmm30\n\t"
                   GCBS_TALL(GCBS_ROW, GCBS_BY_4)
                   "add $96, %[x]\n\t"
                   "add $64, %[y]\n\t"
                   "dec %[n]\n\t"
                   "jnz 1b\n\t"
                   GCBS_TALL(GCBS_STORE, GCBS_BY_64)
                   : [x] "+r"(x), [y] "+r"(y), [n] "+r"(steps)
                   : [sums] "r"(sums)
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                     "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "xmm16", "xmm17", "xmm18", "xmm19", "xmm20",
                     "xmm21", "xmm22", "xmm23", "xmm30", "memory", "cc");
}

void dense(const DenseArguments& args) noexcept {
  const std::size_t steps = args.depth / 32;
  const __m512i low_bits = _mm512_set1_epi32(0xffff);
  const __m512 unit = _mm512_set1_ps(65536.0f);
  for (std::size_t row = 0; row < args.rows; row += kTall) {
    __m512i high[kTall], low[kTall], sums[kTall];
    for (std::size_t r = 0; r < kTall; ++r) high[r] = low[r] = _mm512_setzero_si512();
    for (std::size_t lane = 0; lane < 16; ++lane) {
      dense_lane(args.x + row * args.row_bytes + lane * steps * 4 * kTall, args.y + lane * steps * 64, steps,
                 sums);
      for (std::size_t r = 0; r < kTall; ++r) {
        high[r] = _mm512_add_epi32(high[r], _mm512_srai_epi32(sums[r], 16));
        low[r] = _mm512_add_epi32(low[r], _mm512_and_si512(sums[r], low_bits));
      }
    }
    for (std::size_t r = 0; r < kTall; ++r) {
      const __m512 above = _mm512_mul_ps(_mm512_cvtepi32_ps(high[r]), unit);
      _mm512_storeu_ps(args.products + (row + r) * 16, _mm512_add_ps(above, _mm512_cvtepi32_ps(low[r])));
    }
  }
}

#define GCBS_VECTOR_BYTES 64
#include "similarity/kernels/exp_sums.inc"

}  // namespace

const Kernel kAvx512VnniKernel{
    "avx512_vnni", kAvx512VnniShape, nullptr, nullptr, scan, fine, DenseLayout::lanes, kTall,
    dense,         exp_sums,         0.0034,  0.016};

}  // namespace gcbs
