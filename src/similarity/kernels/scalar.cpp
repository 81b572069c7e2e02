// The portable kernel, and the stand-ins of the others: the same leaf operations in plain C++, for
// any shape. The reference for every other kernel.
//
// Integer sums are exact, so a kernel and its stand-in give the same products. The int16 lanes of
// Start::lanes wrap modulo 2^16 here as they do in vpaddw.
#include "similarity/kernels/kernel.h"

namespace gcbs {
namespace {

/// Four bytes of x times four bytes of y, added up as the shape's instructions do.
struct Accumulator {
  std::int32_t sum = 0;
  std::uint16_t lanes[2] = {0, 0};

  void widen() {
    for (std::uint16_t& lane : lanes) {
      sum += static_cast<std::int16_t>(lane);
      lane = 0;
    }
  }
};

std::int32_t load_int32(const std::uint8_t* bytes) {
  return static_cast<std::int32_t>(std::uint32_t{bytes[0]} | std::uint32_t{bytes[1]} << 8 |
                                   std::uint32_t{bytes[2]} << 16 | std::uint32_t{bytes[3]} << 24);
}

/// sum over the depth of q_x[row] * q_y[column], corrections included.
template <const KernelShape& shape>
std::int32_t product(const ScanArguments& args, const std::uint8_t* group, std::size_t row,
                     std::size_t column) {
  constexpr bool kLanes = shape.start == KernelShape::Start::lanes;
  const std::uint8_t* y = args.y + column / 16 * args.steps * 64 + column % 16 * 4;
  const std::size_t steps_a_segment = kLanes ? args.widen : args.steps;
  const std::size_t steps_a_chunk = static_cast<std::size_t>(shape.chunk_bytes) / 4;
  Accumulator accumulator;
  for (std::size_t step = 0; step < args.steps; ++step) {
    if (step % steps_a_segment == 0 && shape.start != KernelShape::Start::none) {
      const std::uint8_t* start = group + row * 4;
      if (kLanes) {
        accumulator.widen();
        const auto both = static_cast<std::uint32_t>(load_int32(start));
        accumulator.lanes[0] = static_cast<std::uint16_t>(both);
        accumulator.lanes[1] = static_cast<std::uint16_t>(both >> 16);
      } else {
        accumulator.sum = load_int32(start);
      }
      group += static_cast<std::size_t>(shape.group_rows) * 4;
    }
    const std::uint8_t* x =
        group + row * static_cast<std::size_t>(shape.chunk_bytes) + step % steps_a_chunk * 4;
    for (int b = 0; b < 4; ++b) {
      const int xq = static_cast<std::int8_t>(x[b]);
      const int yq = shape.y_shift != 0 ? y[step * 64 + b] : static_cast<std::int8_t>(y[step * 64 + b]);
      if (kLanes)
        accumulator.lanes[b / 2] = static_cast<std::uint16_t>(accumulator.lanes[b / 2] + xq * yq);
      else
        accumulator.sum += xq * yq;
    }
    if ((step + 1) % steps_a_chunk == 0)
      group += static_cast<std::size_t>(shape.group_rows) * static_cast<std::size_t>(shape.chunk_bytes);
  }
  accumulator.widen();
  return accumulator.sum;
}

template <const KernelShape& shape>
void scan(const ScanArguments& args) noexcept {
  constexpr std::size_t kRows = shape.group_rows, kColumns = shape.panel_columns;
  for (std::size_t g = 0; g < args.groups; ++g)
    for (std::size_t r = 0; r < kRows; ++r) {
      const std::size_t row = g * kRows + r;
      std::uint32_t mask = 0, sure = 0;
      for (std::size_t c = 0; c < kColumns; ++c) {
        const std::int32_t before = args.add ? args.products[row * kColumns + c] : 0;
        const std::int32_t value = before + product<shape>(args, args.x + g * args.group_bytes, r, c);
        args.products[row * kColumns + c] = value;
        mask |= static_cast<std::uint32_t>(value - args.col_low[c] > args.row_low[row]) << c;
        sure |= static_cast<std::uint32_t>(value - args.col_high[c] > args.row_high[row]) << c;
      }
      args.masks[row] = mask;
      args.sure[row] = sure;
    }
}

void fine(const FineArguments& args) noexcept {
  for (std::size_t p = 0; p < args.count; ++p) {
    const std::int16_t* x = args.x + args.pairs[p].row * args.stride;
    const std::int16_t* y = args.y + args.pairs[p].col * args.stride;
    std::int32_t lanes[16] = {};
    for (std::size_t k = 0; k < args.stride; k += 32)
      for (std::size_t l = 0; l < 16; ++l)
        lanes[l] += x[k + 2 * l] * y[k + 2 * l] + x[k + 2 * l + 1] * y[k + 2 * l + 1];
    std::int64_t sum = 0;
    for (const std::int32_t lane : lanes) sum += lane;
    args.products[p] = sum;
  }
}

void dense_rows(const DenseArguments& args) noexcept {
  const std::size_t steps = args.depth / 32;
  for (std::size_t r = 0; r < args.rows; ++r)
    for (std::size_t c = 0; c < kDenseColumns; ++c) {
      std::int64_t sum = 0;
      for (std::size_t lane = 0; lane < 16; ++lane) {
        const std::uint8_t* x = args.x + r * args.row_bytes + 4 * lane;
        const std::uint8_t* y = args.y + lane * steps * 64 + 4 * c;
        for (std::size_t t = 0; t < steps; ++t) {
          std::int16_t a[2], b[2];
          __builtin_memcpy(a, x + 64 * t, sizeof a);
          __builtin_memcpy(b, y + 64 * t, sizeof b);
          sum += std::int64_t{a[0]} * b[0] + std::int64_t{a[1]} * b[1];
        }
      }
      args.products[r * kDenseColumns + c] = static_cast<float>(sum);
    }
}

constexpr std::size_t kGroup = 24;  // of avx512_vnni

void dense_lanes(const DenseArguments& args) noexcept {
  const std::size_t steps = args.depth / 32;
  for (std::size_t r = 0; r < args.rows; ++r)
    for (std::size_t c = 0; c < kDenseColumns; ++c) {
      const std::uint8_t* x = args.x + r / kGroup * kGroup * args.row_bytes + 4 * (r % kGroup);
      const std::uint8_t* y = args.y + 4 * c;
      std::int64_t sum = 0;
      for (std::size_t line = 0; line < 16 * steps; ++line) {
        std::int16_t a[2], b[2];
        __builtin_memcpy(a, x + line * 4 * kGroup, sizeof a);
        __builtin_memcpy(b, y + line * 64, sizeof b);
        sum += std::int64_t{a[0]} * b[0] + std::int64_t{a[1]} * b[1];
      }
      args.products[r * kDenseColumns + c] = static_cast<float>(sum);
    }
}

void dense_digits(const DenseArguments& args) noexcept {
  for (std::size_t r = 0; r < args.rows; ++r)
    for (std::size_t c = 0; c < kDenseColumns; ++c) {
      std::int32_t sums[2][2] = {};
      for (std::size_t k = 0; k < args.depth; ++k)
        for (int a = 0; a < 2; ++a)
          for (int b = 0; b < 2; ++b) {
            const std::size_t chunk = k / 64 * 2048, at = k % 64;
            const std::uint8_t x = args.x[r / 16 * 16 * args.row_bytes + chunk +
                                          static_cast<std::size_t>(a) * 1024 + r % 16 * 64 + at];
            const std::uint8_t y =
                args.y[chunk + static_cast<std::size_t>(b) * 1024 + at / 4 * 64 + 4 * c + at % 4];
            sums[a][b] += static_cast<std::int8_t>(x) * static_cast<std::int8_t>(y);
          }
      const std::int64_t total =
          std::int64_t{sums[0][0]} * 65536 + (std::int64_t{sums[0][1]} + sums[1][0]) * 256 + sums[1][1];
      args.products[r * kDenseColumns + c] = static_cast<float>(total);
    }
}

#define GCBS_VECTOR_BYTES 16
#include "similarity/kernels/exp_sums.inc"

constexpr KernelShape kScalarShape{4, 4, 16, 127, 0, KernelShape::Start::none};

/// A kernel of the given shape. Its costs are those of the instructions it stands in for, so that
/// the same choices are made and tested.
template <const KernelShape& shape>
constexpr Kernel portable(const char* name, double scan_cost, double fine_cost,
                          DenseLayout layout = DenseLayout::rows) {
  const bool rows = layout == DenseLayout::rows, lanes = layout == DenseLayout::lanes;
  return {name,
          shape,
          nullptr,
          nullptr,
          scan<shape>,
          fine,
          layout,
          rows    ? std::size_t{6}
          : lanes ? kGroup
                  : std::size_t{16},
          rows    ? dense_rows
          : lanes ? dense_lanes
                  : dense_digits,
          exp_sums,
          scan_cost,
          fine_cost};
}

}  // namespace

const Kernel kScalarKernel = portable<kScalarShape>("scalar", 0.8, 0.3);
const Kernel kAvx2StandIn = portable<kAvx2Shape>("avx2 stand-in", 0.0069, 0.026);
const Kernel kAvx512VnniStandIn =
    portable<kAvx512VnniShape>("avx512_vnni stand-in", 0.0034, 0.016, DenseLayout::lanes);
const Kernel kAmxInt8StandIn =
    portable<kAmxInt8Shape>("amx_int8 stand-in", 0.00055, 0.016, DenseLayout::digits);

}  // namespace gcbs
