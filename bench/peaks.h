// The kernels of the peak probe: one register tile multiplied over and over, operands in L1.
#pragma once

namespace gcbs::bench {

/// What a kernel multiplies and how it leaves its sums.
enum class Sums {
  int32,    ///< uint8 x int8, sums [row][column] in int32
  int16x2,  ///< uint8 x int8, sums [row][column][2] modulo 2^16: depth 4k, 4k+1 and 4k+2, 4k+3
  fp32,     ///< float x float, sums [row][column]
};

/// One register tile. x is stored [depth / x_group][rows][x_group], y [depth / y_group][columns][y_group];
/// both together fit a first-level cache of 32 KiB.
struct PeakKernel {
  const char* instructions;
  Sums sums;
  int rows, columns, depth, x_group, y_group;
  /// Multiplies the tile `passes` times, adding up, and stores the sums once at the end.
  void (*multiply)(const void* x, const void* y, void* sums, long passes) noexcept;
};

/// A plain range: the leaf files instantiate no template, whose code could leak into the whole program.
struct PeakKernels {
  const PeakKernel* first = nullptr;
  const PeakKernel* last = nullptr;
  const PeakKernel* begin() const noexcept { return first; }
  const PeakKernel* end() const noexcept { return last; }
};

PeakKernels avx2_peaks() noexcept;
PeakKernels avx512_vnni_peaks() noexcept;
PeakKernels amx_int8_peaks() noexcept;

}  // namespace gcbs::bench
