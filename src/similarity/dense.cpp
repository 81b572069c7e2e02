// Packing for the dense kernels (kernels/kernel.h, DenseLayout).
#include "similarity/dense.h"

#include <algorithm>
#include <cstring>

namespace gcbs {
namespace {

constexpr std::size_t kGroupRows = 16, kChunk = 64;        // of digits
constexpr std::size_t kMostDigits = std::size_t{1} << 16;  // values a row whose mixed sums fit int32
constexpr std::size_t kRowPadding = 64;                    // keeps rows off each other's cache sets

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

std::size_t depth_of(const Kernel& kernel, std::size_t stride) {
  return kernel.dense_layout == DenseLayout::digits ? round_up(stride, kChunk) : stride;
}

std::uint8_t low_digit(std::int16_t value) { return static_cast<std::uint8_t>(value); }
std::uint8_t high_digit(std::int16_t value) {
  return static_cast<std::uint8_t>((value - static_cast<std::int8_t>(value)) >> 8);
}

/// 4 x 4 numbers transposed: number c of from[l] becomes number l of to[c * to_stride].
void transpose4(const std::uint32_t* const from[4], std::uint32_t* to, std::size_t to_stride) {
  typedef std::uint32_t Four __attribute__((vector_size(16)));
  Four r[4];
  for (std::size_t l = 0; l < 4; ++l) std::memcpy(&r[l], from[l], sizeof(Four));
  const Four ab_low = __builtin_shufflevector(r[0], r[1], 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(r[0], r[1], 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(r[2], r[3], 0, 4, 1, 5);
  const Four cd_high = __builtin_shufflevector(r[2], r[3], 2, 6, 3, 7);
  const Four columns[4] = {__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5),
                           __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
                           __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                           __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  for (std::size_t c = 0; c < 4; ++c) std::memcpy(to + c * to_stride, &columns[c], sizeof(Four));
}

constexpr std::size_t kMostWidth = 24;  // rows of a group, columns of a panel

/// Rows in lanes: line (lane l, step t) holds the pair 32 t + 2 l of each of `width` rows, a multiple of 4.
/// Rows beyond the end repeat the last one.
void pack_lanes(const FineOperand& side, std::span<const Vertex> members, std::size_t width,
                std::size_t depth, std::uint8_t* out) {
  const std::int16_t* rows[kMostWidth];
  for (std::size_t r = 0; r < width; ++r) rows[r] = side.row(members[std::min(r, members.size() - 1)]);
  const std::size_t steps = depth / 32;
  auto* lines = reinterpret_cast<std::uint32_t*>(out);
  for (std::size_t t = 0; t < steps; ++t)
    for (std::size_t r = 0; r < width; r += 4)
      for (std::size_t lane = 0; lane < 16; lane += 4) {
        const std::uint32_t* from[4];
        for (std::size_t l = 0; l < 4; ++l)
          from[l] = reinterpret_cast<const std::uint32_t*>(rows[r + l] + 32 * t) + lane;
        transpose4(from, lines + (lane * steps + t) * width + r, steps * width);
      }
}

}  // namespace

const Kernel& dense_kernel(const Kernel& kernel, std::size_t depth) noexcept {
  return kernel.dense_layout == DenseLayout::digits && depth > kMostDigits ? kScalarKernel : kernel;
}

DenseRows::DenseRows(const Kernel& kernel, std::size_t capacity, std::size_t stride, const RunContext& run)
    : kernel_(&dense_kernel(kernel, stride)),
      depth_(depth_of(*kernel_, stride)),
      row_bytes_(2 * depth_ + (kernel_->dense_layout == DenseLayout::rows ? kRowPadding : 0)),
      bytes_(round_up(capacity, kDenseRows) * row_bytes_, run.meter) {}

void DenseRows::gather(const FineOperand& side, std::span<const Vertex> members) {
  count_ = members.size();
  const std::size_t padded = round_up(count_, kDenseRows);
  if (kernel_->dense_layout == DenseLayout::rows) {
    for (std::size_t r = 0; r < count_; ++r)
      std::memcpy(bytes_.data() + r * row_bytes_, side.row(members[r]), 2 * side.stride);
    std::memset(bytes_.data() + count_ * row_bytes_, 0, (padded - count_) * row_bytes_);
    return;
  }
  if (kernel_->dense_layout == DenseLayout::lanes) {
    const std::size_t width = kernel_->dense_rows;
    for (std::size_t r = 0; r < count_; r += width)
      pack_lanes(side, members.subspan(r), width, depth_, bytes_.data() + r * row_bytes_);
    return;
  }
  std::memset(bytes_.data(), 0, padded * row_bytes_);
  for (std::size_t r = 0; r < count_; ++r) {
    const std::int16_t* values = side.row(members[r]);
    std::uint8_t* group = bytes_.data() + r / kGroupRows * kGroupRows * row_bytes_ + r % kGroupRows * kChunk;
    for (std::size_t k = 0; k < side.stride; ++k) {
      std::uint8_t* to = group + k / kChunk * 2 * kGroupRows * kChunk + k % kChunk;
      to[0] = high_digit(values[k]);
      to[kGroupRows * kChunk] = low_digit(values[k]);
    }
  }
}

void DenseRows::multiply(std::size_t first, const DensePanels& panels, std::size_t panel,
                         float* products) const {
  const std::size_t rows = round_up(std::min(kDenseRows, count_ - first), kernel_->dense_rows);
  kernel_->dense(
      {bytes_.data() + first * row_bytes_, row_bytes_, rows, panels.panel(panel), depth_, products});
}

DensePanels::DensePanels(const Kernel& kernel, std::size_t capacity, std::size_t stride,
                         const RunContext& run)
    : kernel_(&dense_kernel(kernel, stride)),
      depth_(depth_of(*kernel_, stride)),
      panel_bytes_(2 * depth_ * kDenseColumns),
      bytes_(round_up(capacity, kDenseColumns) / kDenseColumns * panel_bytes_, run.meter) {}

void DensePanels::gather(const FineOperand& side, std::span<const Vertex> members) {
  panels_ = round_up(members.size(), kDenseColumns) / kDenseColumns;
  for (std::size_t p = 0; p < panels_; ++p) {
    const std::span<const Vertex> mine = members.subspan(p * kDenseColumns);
    std::uint8_t* out = bytes_.data() + p * panel_bytes_;
    if (kernel_->dense_layout != DenseLayout::digits) {
      pack_lanes(side, mine, kDenseColumns, depth_, out);
      continue;
    }
    std::memset(out, 0, panel_bytes_);
    for (std::size_t c = 0; c < std::min(kDenseColumns, mine.size()); ++c)
      for (std::size_t k = 0; k < side.stride; ++k) {
        std::uint8_t* to =
            out + k / kChunk * 2 * kDenseColumns * kChunk + k % kChunk / 4 * 64 + 4 * c + k % 4;
        const std::int16_t value = side.row(mine[c])[k];
        to[0] = high_digit(value);
        to[kDenseColumns * kChunk] = low_digit(value);
      }
  }
}

}  // namespace gcbs
