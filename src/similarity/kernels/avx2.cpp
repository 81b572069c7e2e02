// AVX2: 6 rows x 16 columns in 12 accumulators of 16 int16 lanes.
//
// A step multiplies 4 bytes of each of 6 rows (vpbroadcastd) with a 64-byte line of Y: vpmaddubsw
// (unsigned y, signed x) adds two neighbouring products to int16, vpaddw accumulates. vpaddw wraps
// modulo 2^16, so only the true sum of a lane over a segment has to fit into int16; packing makes
// sure of it (each lane's squared norm is at most 32,767, then Cauchy-Schwarz). |q| <= 90 and the
// shift of 90 keep 2 * 180 * 90 below 2^15: vpmaddubsw never saturates. Every segment starts at
// minus the shift's share and is widened to int32 by vpmaddwd with ones.
// Registers: 12 accumulators, 2 of Y, 1 broadcast, 1 product. Both multiplies of a row are issued
// before both additions. A panel of Y (16 x depth bytes) stays in L1, the block of X in L2.
#include <immintrin.h>

#include "similarity/kernels/kernel.h"

namespace gcbs {
namespace {

constexpr std::size_t kRows = 6, kColumns = 16;

inline __m256i load(const void* p) { return _mm256_load_si256(static_cast<const __m256i*>(p)); }
inline void store(void* p, __m256i v) { _mm256_store_si256(static_cast<__m256i*>(p), v); }

inline int load_int(const std::uint8_t* p) {
  int value;
  __builtin_memcpy(&value, p, sizeof value);
  return value;
}

#define GCBS_ROW(offset, low, high)          \
  "vpbroadcastd " offset                     \
  "(%[x]), %%ymm14\n\t"                      \
  "vpmaddubsw %%ymm14, %%ymm12, %%ymm15\n\t" \
  "vpmaddubsw %%ymm14, %%ymm13, %%ymm14\n\t" \
  "vpaddw %%ymm15, %%ymm" low ", %%ymm" low  \
  "\n\t"                                     \
  "vpaddw %%ymm14, %%ymm" high ", %%ymm" high "\n\t"

#define GCBS_STEP(y0, y1, x0, x1, x2, x3, x4, x5)                                                          \
  "vmovdqa " y0                                                                                            \
  "(%[y]), %%ymm12\n\t"                                                                                    \
  "vmovdqa " y1 "(%[y]), %%ymm13\n\t" GCBS_ROW(x0, "0", "6") GCBS_ROW(x1, "1", "7") GCBS_ROW(x2, "2", "8") \
      GCBS_ROW(x3, "3", "9") GCBS_ROW(x4, "4", "10") GCBS_ROW(x5, "5", "11")

/// One segment: 12 int16 accumulators over `steps` steps (even).
struct Tile {
  __m256i low[kRows], high[kRows];
};

inline __attribute__((always_inline)) void accumulate(const std::uint8_t*& x, const std::uint8_t*& y,
                                                      std::size_t steps, Tile& t) {
  register __m256i a0 __asm__("ymm0") = t.low[0], a1 __asm__("ymm1") = t.low[1],
                      a2 __asm__("ymm2") = t.low[2], a3 __asm__("ymm3") = t.low[3],
                      a4 __asm__("ymm4") = t.low[4], a5 __asm__("ymm5") = t.low[5],
                      b0 __asm__("ymm6") = t.high[0], b1 __asm__("ymm7") = t.high[1],
                      b2 __asm__("ymm8") = t.high[2], b3 __asm__("ymm9") = t.high[3],
                      b4 __asm__("ymm10") = t.high[4], b5 __asm__("ymm11") = t.high[5];
  std::size_t pairs = steps / 2;
  __asm__ volatile(
      "1:\n\t" GCBS_STEP("0", "32", "0", "4", "8", "12", "16", "20")
          GCBS_STEP("64", "96", "24", "28", "32", "36", "40", "44")
      "add $48, %[x]\n\t"
      "add $128, %[y]\n\t"
      "dec %[n]\n\t"
      "jnz 1b\n\t"
      : "+x"(a0), "+x"(a1), "+x"(a2), "+x"(a3), "+x"(a4), "+x"(a5), "+x"(b0), "+x"(b1), "+x"(b2),
        "+x"(b3), "+x"(b4), "+x"(b5), [x] "+r"(x), [y] "+r"(y), [n] "+r"(pairs)
      :
      : "ymm12", "ymm13", "ymm14", "ymm15", "memory", "cc");
  t.low[0] = a0, t.low[1] = a1, t.low[2] = a2, t.low[3] = a3, t.low[4] = a4, t.low[5] = a5;
  t.high[0] = b0, t.high[1] = b1, t.high[2] = b2, t.high[3] = b3, t.high[4] = b4, t.high[5] = b5;
}

/// Bit c set where the product of column c exceeds its limits.
inline std::uint32_t above(__m256i low, __m256i high, const std::int32_t* columns, std::int32_t row) {
  const __m256i limit = _mm256_set1_epi32(row);
  const __m256i hit0 = _mm256_cmpgt_epi32(_mm256_sub_epi32(low, load(columns)), limit);
  const __m256i hit1 = _mm256_cmpgt_epi32(_mm256_sub_epi32(high, load(columns + 8)), limit);
  return static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(hit0))) |
         static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(hit1))) << 8;
}

void scan(const ScanArguments& args) noexcept {
  const __m256i ones = _mm256_set1_epi16(1);
  const std::size_t lines_a_group = (args.steps + args.groups - 1) / args.groups;
  for (std::size_t g = 0; g < args.groups; ++g) {
    const std::uint8_t* x = args.x + g * args.group_bytes;
    const std::uint8_t* y = args.y;
    if (args.y_next != nullptr)
      for (std::size_t l = g * lines_a_group; l < (g + 1) * lines_a_group && l < args.steps; ++l)
        _mm_prefetch(reinterpret_cast<const char*>(args.y_next + l * 64), _MM_HINT_T1);

    std::int32_t* out = args.products + g * kRows * kColumns;
    Tile wide;
#pragma GCC unroll 6
    for (std::size_t r = 0; r < kRows; ++r) {
      wide.low[r] = args.add ? load(out + r * kColumns) : _mm256_setzero_si256();
      wide.high[r] = args.add ? load(out + r * kColumns + 8) : _mm256_setzero_si256();
    }
    for (std::size_t step = 0; step < args.steps; step += args.widen) {
      Tile t;
#pragma GCC unroll 6
      for (std::size_t r = 0; r < kRows; ++r) t.low[r] = t.high[r] = _mm256_set1_epi32(load_int(x + 4 * r));
      x += 4 * kRows;
      accumulate(x, y, args.widen, t);
#pragma GCC unroll 6
      for (std::size_t r = 0; r < kRows; ++r) {
        wide.low[r] = _mm256_add_epi32(wide.low[r], _mm256_madd_epi16(t.low[r], ones));
        wide.high[r] = _mm256_add_epi32(wide.high[r], _mm256_madd_epi16(t.high[r], ones));
      }
    }
#pragma GCC unroll 6
    for (std::size_t r = 0; r < kRows; ++r) {
      const std::size_t row = g * kRows + r;
      args.masks[row] = above(wide.low[r], wide.high[r], args.col_low, args.row_low[row]);
      args.sure[row] = above(wide.low[r], wide.high[r], args.col_high, args.row_high[row]);
      store(out + r * kColumns, wide.low[r]);
      store(out + r * kColumns + 8, wide.high[r]);
    }
  }
}

/// Sum of 16 int32 lanes in int64.
inline std::int64_t sum_lanes(__m256i low, __m256i high) {
  const __m256i s0 = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(low)),
                                      _mm256_cvtepi32_epi64(_mm256_extracti128_si256(low, 1)));
  const __m256i s1 = _mm256_add_epi64(_mm256_cvtepi32_epi64(_mm256_castsi256_si128(high)),
                                      _mm256_cvtepi32_epi64(_mm256_extracti128_si256(high, 1)));
  const __m256i s = _mm256_add_epi64(s0, s1);
  const __m128i t = _mm_add_epi64(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
  return _mm_cvtsi128_si64(t) + _mm_extract_epi64(t, 1);
}

/// `Count` columns of one row together: its loads are shared.
template <int Count>
inline __attribute__((always_inline)) void dots(const std::int16_t* x, const FineArguments& args,
                                                std::size_t p) {
  __m256i low[Count], high[Count];
  const std::int16_t* y[Count];
#pragma GCC unroll 4
  for (int c = 0; c < Count; ++c) {
    y[c] = args.y + args.pairs[p + c].col * args.stride;
    low[c] = high[c] = _mm256_setzero_si256();
  }
  for (std::size_t k = 0; k < args.stride; k += 32) {
    const __m256i x0 = load(x + k), x1 = load(x + k + 16);
#pragma GCC unroll 4
    for (int c = 0; c < Count; ++c) {
      low[c] = _mm256_add_epi32(low[c], _mm256_madd_epi16(x0, load(y[c] + k)));
      high[c] = _mm256_add_epi32(high[c], _mm256_madd_epi16(x1, load(y[c] + k + 16)));
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < Count; ++c) args.products[p + c] = sum_lanes(low[c], high[c]);
}

/// Up to four pairs of a row together.
void fine(const FineArguments& args) noexcept {
  std::size_t p = 0;
  while (p < args.count) {
    const std::uint32_t row = args.pairs[p].row;
    std::size_t together = 1;
    while (together < 4 && p + together < args.count && args.pairs[p + together].row == row) ++together;
    const std::int16_t* x = args.x + row * args.stride;
    switch (together) {
      case 1: dots<1>(x, args, p); break;
      case 2: dots<2>(x, args, p); break;
      case 3: dots<3>(x, args, p); break;
      default: dots<4>(x, args, p);
    }
    p += together;
  }
}

/// Sums of one lane after the other fit int32; they are split into 16 high and 16 low bits, whose sums over
/// the lanes fit float32 exactly, so that the last addition rounds once.
struct Split {
  __m256i high[2 * kRows], low[2 * kRows];
};

// Operands that the compiler places: variables bound to registers would not survive what a sanitizer puts
// between the assembly and their use.
#define GCBS_ZERO(r) "vpxor %[" r "], %[" r "], %[" r "]\n\t"
#define GCBS_DENSE_ROW(address, r)         \
  "vpbroadcastd " address                  \
  ", %%ymm14\n\t"                          \
  "vpmaddwd %%ymm14, %%ymm12, %%ymm15\n\t" \
  "vpmaddwd %%ymm14, %%ymm13, %%ymm14\n\t" \
  "vpaddd %%ymm15, %[a" r "], %[a" r       \
  "]\n\t"                                  \
  "vpaddd %%ymm14, %[b" r "], %[b" r "]\n\t"

/// One lane of 6 rows and 16 columns: the same tile as accumulate(), int16 by int16 to int32.
inline __attribute__((always_inline)) void dense_lane(const std::uint8_t* x, std::size_t row_bytes,
                                                      const std::uint8_t* y, std::size_t steps,
                                                      Split& split) {
  __m256i a0, a1, a2, a3, a4, a5, b0, b1, b2, b3, b4, b5;
  const std::uint8_t* x3 = x + 3 * row_bytes;
  __asm__ volatile(
      GCBS_ZERO("a0") GCBS_ZERO("a1") GCBS_ZERO("a2") GCBS_ZERO("a3") GCBS_ZERO("a4") GCBS_ZERO("a5")  //
      GCBS_ZERO("b0") GCBS_ZERO("b1") GCBS_ZERO("b2") GCBS_ZERO("b3") GCBS_ZERO("b4") GCBS_ZERO("b5")
      "1:\n\t"
      "vmovdqa 0(%[y]), %%ymm12\n\t"
      "vmovdqa 32(%[y]), %%ymm13\n\t"  //
      GCBS_DENSE_ROW("(%[x])", "0") GCBS_DENSE_ROW("(%[x],%[b])", "1") GCBS_DENSE_ROW("(%[x],%[b],2)", "2")
          GCBS_DENSE_ROW("(%[x3])", "3") GCBS_DENSE_ROW("(%[x3],%[b])", "4")
              GCBS_DENSE_ROW("(%[x3],%[b],2)", "5")
      "add $64, %[x]\n\t"
      "add $64, %[x3]\n\t"
      "add $64, %[y]\n\t"
      "dec %[n]\n\t"
      "jnz 1b\n\t"
      : [a0] "=&x"(a0), [a1] "=&x"(a1), [a2] "=&x"(a2), [a3] "=&x"(a3), [a4] "=&x"(a4), [a5] "=&x"(a5),
        [b0] "=&x"(b0), [b1] "=&x"(b1), [b2] "=&x"(b2), [b3] "=&x"(b3), [b4] "=&x"(b4), [b5] "=&x"(b5),
        [x] "+r"(x), [x3] "+r"(x3), [y] "+r"(y), [n] "+r"(steps)
      : [b] "r"(row_bytes)
      : "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
  const __m256i sums[2 * kRows] = {a0, b0, a1, b1, a2, b2, a3, b3, a4, b4, a5, b5};
  const __m256i low_bits = _mm256_set1_epi32(0xffff);
#pragma GCC unroll 12
  for (std::size_t a = 0; a < 2 * kRows; ++a) {
    split.high[a] = _mm256_add_epi32(split.high[a], _mm256_srai_epi32(sums[a], 16));
    split.low[a] = _mm256_add_epi32(split.low[a], _mm256_and_si256(sums[a], low_bits));
  }
}

void dense(const DenseArguments& args) noexcept {
  const std::size_t steps = args.depth / 32;
  const __m256 unit = _mm256_set1_ps(65536.0f);
  for (std::size_t row = 0; row < args.rows; row += kRows) {
    Split split;
    for (std::size_t a = 0; a < 2 * kRows; ++a) split.high[a] = split.low[a] = _mm256_setzero_si256();
    for (std::size_t lane = 0; lane < 16; ++lane)
      dense_lane(args.x + row * args.row_bytes + 4 * lane, args.row_bytes, args.y + lane * steps * 64, steps,
                 split);
    for (std::size_t a = 0; a < 2 * kRows; ++a) {
      const __m256 high = _mm256_mul_ps(_mm256_cvtepi32_ps(split.high[a]), unit);
      _mm256_storeu_ps(args.products + row * kColumns + 8 * a,
                       _mm256_add_ps(high, _mm256_cvtepi32_ps(split.low[a])));
    }
  }
}

#define GCBS_VECTOR_BYTES 32
#include "similarity/kernels/exp_sums.inc"

}  // namespace

const Kernel kAvx2Kernel{"avx2", kAvx2Shape, nullptr,  nullptr, scan, fine, DenseLayout::rows,
                         kRows,  dense,      exp_sums, 0.0069,  0.026};

}  // namespace gcbs
