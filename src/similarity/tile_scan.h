// The one loop nest over int8 products, for every instruction set and every reader of them: a slice of
// X rows against a tile of Y columns.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "base/run.h"
#include "similarity/limits.h"
#include "similarity/operand.h"

namespace gcbs {

inline constexpr std::size_t kTileColumns = 64;

inline std::size_t count_tiles(std::size_t columns) { return (columns + kTileColumns - 1) / kTileColumns; }

/// What a scan found; good until the next one.
struct TileProducts {
  const std::int32_t* products;
  const std::uint32_t* masks;
  std::size_t slice_rows, panels, panel_columns;
  unsigned column_bits;
  std::uint64_t valid;  ///< columns that exist

  /// Bit c is set where row r of the slice and column c of the tile may be above the limit.
  std::uint64_t candidates(std::size_t r) const noexcept {
    std::uint64_t mask = 0;
    for (std::size_t panel = 0; panel < panels; ++panel)
      mask |= std::uint64_t{masks[panel * slice_rows + r]} << (panel * panel_columns);
    return mask & valid;
  }

  /// Of a candidate, all parts together.
  std::int32_t product(std::size_t r, std::size_t c) const noexcept {
    const std::size_t place = ((c >> column_bits) * slice_rows + r) << column_bits;
    return products[place + (c & (panel_columns - 1))];
  }
};

/// Runs the kernel; holds its products and masks, so one a worker.
class TileScan {
 public:
  /// `limits`: one a part, read anew by each scan. All of it outlives this.
  TileScan(const CoarsePrepared& coarse, const Kernel& kernel, std::span<const Limits> limits,
           std::size_t columns, std::size_t slice_rows);

  /// Rows [first, first + rows), at most slice_rows of them, `first` at the start of a group.
  TileProducts run(std::size_t first, std::size_t rows, std::size_t tile);

 private:
  ScanArguments arguments(std::size_t part_index, std::size_t first, std::size_t first_group,
                          std::size_t groups, std::size_t panel, std::size_t panel_of_tile);
  void continue_scan(std::size_t first, std::size_t groups, std::size_t panel, std::size_t panel_of_tile);

  const CoarsePrepared& coarse_;
  const Kernel& kernel_;
  std::span<const Limits> limits_;
  std::size_t all_columns_, slice_rows_;
  std::size_t unit_rows_, columns_;
  Array<std::int32_t> products_;
  Array<std::uint32_t> masks_;
};

/// Rows of a slice: int8 and int16 rows and the products take most of L2.
std::size_t choose_slice_rows(const FinePrepared& fine, const CoarsePrepared& coarse);

/// Rows of a worker's block: up to `most_slices`, yet several blocks for each thread.
std::size_t choose_block_rows(std::size_t rows, std::size_t slice_rows, std::size_t most_slices,
                              const RunContext& run);

/// What one side's int8 and int16 operands take, roughly: for the check before a run.
double operand_bytes(std::size_t rows, std::size_t cols);

}  // namespace gcbs
