// Whole blocks of products: rows of one side against rows of the other, chosen freely, from the int16
// operands. What a batch or a global sum needs, where the join needs only what is large.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "similarity/kernels/kernel.h"
#include "similarity/operand.h"

namespace gcbs {

/// The kernel's way to take dense blocks: its own, or the portable one where sums of digits could overflow.
const Kernel& dense_kernel(const Kernel& kernel, std::size_t depth) noexcept;

/// Rows gathered as the left side of blocks. Reused from block to block.
class DenseRows {
 public:
  DenseRows(const Kernel& kernel, std::size_t capacity, std::size_t stride, const RunContext& run);

  /// Takes operand rows members[0], members[1], ...
  void gather(const FineOperand& side, std::span<const Vertex> members);
  std::size_t count() const noexcept { return count_; }

  /// products: kDenseRows x 16, of rows first .. first + kDenseRows - 1; beyond the end undefined.
  void multiply(std::size_t first, const class DensePanels& panels, std::size_t panel, float* products) const;

 private:
  const Kernel* kernel_;
  std::size_t depth_, row_bytes_, count_ = 0;
  Array<std::uint8_t> bytes_;
};

/// Rows gathered as the right side: panels of 16 columns.
class DensePanels {
 public:
  DensePanels(const Kernel& kernel, std::size_t capacity, std::size_t stride, const RunContext& run);

  void gather(const FineOperand& side, std::span<const Vertex> members);
  std::size_t panels() const noexcept { return panels_; }
  const std::uint8_t* panel(std::size_t p) const noexcept { return bytes_.data() + p * panel_bytes_; }

 private:
  const Kernel* kernel_;
  std::size_t depth_, panel_bytes_, panels_ = 0;
  Array<std::uint8_t> bytes_;
};

}  // namespace gcbs
