// The leaf operations that an instruction set supplies. Everything else (blocking, packing, limits,
// emission, re-check) is written once, above.
//
// Kernel files are leaf files: they include this header and intrinsics only, allocate nothing,
// throw nothing, and instantiate no template of the standard library, so that no code built with
// their -m flags can leak into the rest of the program.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gcbs {

/// How a kernel wants its 8-bit operands packed.
///
/// X: groups of `group_rows` rows. A group is a sequence of segments; a segment is an optional start
/// (4 bytes a row) followed by chunks of `chunk_bytes` of each of its rows in turn.
/// Y: panels of `panel_columns` columns, stored as sub-panels of 16 columns; a sub-panel is a
/// sequence of 64-byte lines, a line holding 4 consecutive bytes of each of its 16 columns.
struct KernelShape {
  /// none: products need no correction. sum: one segment, whose start is -y_shift * sum(q_x) as int32.
  /// lanes: segments of `widen` 4-byte steps; the start is the same for each of the two int16 lanes.
  enum class Start : std::uint8_t { none, sum, lanes };

  int group_rows;
  int chunk_bytes;    ///< 4, or 64 where whole tile rows are loaded
  int panel_columns;  ///< 16 or 32
  int max_value;      ///< |q| of either side
  int y_shift;        ///< added to y so that its bytes are unsigned; 0: signed
  Start start;
};

/// One block of X rows against one panel of Y.
struct ScanArguments {
  const std::uint8_t* x;        ///< first group
  std::size_t groups;           ///< number of groups
  std::size_t group_bytes;      ///< distance of groups
  const std::uint8_t* y;        ///< the panel
  const std::uint8_t* y_next;   ///< the panel after it, to be fetched ahead; may be null
  const std::int16_t* fine;     ///< the panel's int16 columns, also to be fetched ahead:
  std::size_t fine_lines;       ///< so many lines of 64 bytes
  std::size_t steps;            ///< 4-byte steps in the depth; a multiple of widen and chunk_bytes / 4
  std::size_t widen;            ///< steps between two widenings of int16 lanes (Start::lanes)
  const std::int32_t* row_low;  ///< limits for each row
  const std::int32_t* row_high;
  const std::int32_t* col_low;  ///< limits for each column of the panel
  const std::int32_t* col_high;
  std::int32_t* products;  ///< out: rows x panel_columns
  bool add;                ///< products hold those of an earlier part of the depth: add to them
  std::uint32_t* masks;    ///< out, a row: bit c set where product - col_low[c] > row_low
  std::uint32_t* sure;     ///< out, the same for col_high and row_high
};

/// A pair to be looked at more closely: indices into the int16 operands.
struct FinePair {
  std::uint32_t row, col;
};

struct FineArguments {
  const std::int16_t* x;
  const std::int16_t* y;
  std::size_t stride;  ///< values a row; a multiple of 32
  const FinePair* pairs;
  std::size_t count;
  std::int64_t* products;  ///< out
};

/// How a kernel wants the int16 rows of a dense block (similarity/dense.h packs them).
///
/// rows: X row by row; a panel of Y as 64-byte lines that hold 2 consecutive values of each of its 16
/// columns, lane by lane (the pairs 32 t + 2 l of lane l for all t, then lane l + 1).
/// lanes: Y the same; X so too, in groups of dense_rows rows whose lines are 4 dense_rows bytes long.
/// digits: values as 256 high + low, both signed bytes. X in groups of 16 rows, Y in panels of 16 columns,
/// both in chunks of 64 values: the high bytes of a chunk, then its low ones, X row by row, Y in lines of 4
/// consecutive values of each column.
enum class DenseLayout : std::uint8_t { rows, lanes, digits };

/// Rows of X against one panel of 16 columns, every product wanted.
struct DenseArguments {
  const std::uint8_t* x;
  std::size_t row_bytes;  ///< distance of rows; in groups, a group's bytes divided by its rows
  std::size_t rows;       ///< a multiple of the kernel's dense_rows, at most kDenseRows
  const std::uint8_t* y;
  std::size_t depth;  ///< values a row: a multiple of 32, or of 64 with digits
  float* products;    ///< out, rows x 16: the exact integer product, rounded once
};
inline constexpr std::size_t kDenseRows = 48, kDenseColumns = 16;

/// Adds 2^(multiply * product + col_add + row_add), in float32, to its row's and its column's sum. The
/// exponents lie between -126 and 126.
struct ExpSumArguments {
  const float* products;  ///< rows x 16
  std::size_t rows;
  float multiply;
  const float* row_add;
  const float* col_add;           ///< 16
  const std::uint16_t* excluded;  ///< a row: bit c set where column c does not count; may be null
  float* row_sums;                ///< rows x 16: one partial sum a column of the panel
  float* col_sums;                ///< 16
  float *row_most, *col_most;     ///< the same for the largest; both null: not wanted
};

struct Kernel {
  const char* name;
  KernelShape shape;
  /// Before the first and after the last call on a thread (tile configuration). May be null.
  void (*begin)() noexcept;
  void (*end)() noexcept;
  void (*scan)(const ScanArguments&) noexcept;
  /// Exact integer dot products. Each of the 16 lanes ((k / 2) mod 16) of a row has a squared norm
  /// below 2^31, so that int32 lane sums cannot overflow.
  void (*fine)(const FineArguments&) noexcept;
  DenseLayout dense_layout;
  std::size_t dense_rows;  ///< rows that are multiplied together; divides kDenseRows
  /// Exact integer dot products again, of whole blocks.
  void (*dense)(const DenseArguments&) noexcept;
  void (*exp_sums)(const ExpSumArguments&) noexcept;
  /// Nanoseconds a pair and byte of depth (scan), a pair and value (fine), roughly: they only steer
  /// the choice of a head.
  double scan_cost, fine_cost;
};

/// A kernel's set-up of the thread, undone in any case.
class KernelOnThread {
 public:
  explicit KernelOnThread(const Kernel& kernel) : kernel_(kernel) {
    if (kernel_.begin != nullptr) kernel_.begin();
  }
  ~KernelOnThread() {
    if (kernel_.end != nullptr) kernel_.end();
  }
  KernelOnThread(const KernelOnThread&) = delete;
  KernelOnThread& operator=(const KernelOnThread&) = delete;

 private:
  const Kernel& kernel_;
};

extern const Kernel kScalarKernel;
#if defined(__x86_64__)
extern const Kernel kAvx2Kernel;
extern const Kernel kAvx512VnniKernel;
extern const Kernel kAmxInt8Kernel;
#endif

/// Portable kernels with the shapes of the others: the same packing, tiling and limits run
/// everywhere, whatever instructions the machine has.
extern const Kernel kAvx2StandIn;
extern const Kernel kAvx512VnniStandIn;
extern const Kernel kAmxInt8StandIn;

/// The shapes, shared by a kernel and its stand-in.
inline constexpr KernelShape kAvx2Shape{6, 4, 16, 90, 90, KernelShape::Start::lanes};
inline constexpr KernelShape kAvx512VnniShape{12, 4, 32, 127, 128, KernelShape::Start::sum};
inline constexpr KernelShape kAmxInt8Shape{16, 64, 32, 127, 0, KernelShape::Start::none};

}  // namespace gcbs
