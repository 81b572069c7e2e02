// The one loop nest over int8 products, for every instruction set and every reader of them: a slice of
// X rows against a tile of Y columns.
#pragma once

#include <cstdint>
#include <span>

#include "base/run.h"
#include "similarity/limits.h"
#include "similarity/operand.h"

namespace gcbs {

inline constexpr std::size_t kTileColumns = 64;

inline std::size_t count_tiles(std::size_t columns) { return (columns + kTileColumns - 1) / kTileColumns; }

/// What a scan found; good until the next one. Bit c stands for column c of the tile.
struct TileHits {
  const std::uint32_t *masks, *surely;
  std::size_t slice_rows, panels, panel_columns;
  std::uint64_t valid;  ///< columns that exist

  /// Where row r of the slice may be above the lower limit.
  std::uint64_t candidates(std::size_t r) const noexcept { return join(masks, r); }

  /// Of the candidates, those surely above the upper limit.
  std::uint64_t sure(std::size_t r) const noexcept { return join(surely, r) & candidates(r); }

 private:
  std::uint64_t join(const std::uint32_t* words, std::size_t r) const noexcept {
    std::uint64_t mask = 0;
    for (std::size_t panel = 0; panel < panels; ++panel)
      mask |= std::uint64_t{words[panel * slice_rows + r]} << (panel * panel_columns);
    return mask & valid;
  }
};

/// Runs the kernel; holds its products and masks, so one a worker.
class TileScan {
 public:
  /// `limits`: one a part, read anew by each scan. All of it outlives this.
  TileScan(const CoarsePrepared& coarse, const Kernel& kernel, std::span<const Limits> limits,
           std::size_t columns, std::size_t slice_rows);

  /// Rows [first, first + rows), at most slice_rows of them, `first` at the start of a group.
  /// `ahead`: the int16 columns, where most of the tile's will be needed after the scan; may be null.
  TileHits run(std::size_t first, std::size_t rows, std::size_t tile, const FineOperand* ahead = nullptr);

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
  Array<std::uint32_t> masks_, sure_;
};

/// Rows of a slice: int8 and int16 rows and the products take most of L2.
std::size_t choose_slice_rows(const FinePrepared& fine, const CoarsePrepared& coarse);

/// Rows of a worker's block: up to `most_slices`, yet several blocks for each thread.
std::size_t choose_block_rows(std::size_t rows, std::size_t slice_rows, std::size_t most_slices,
                              const RunContext& run);

/// What one side's int8 and int16 operands take, roughly: for the check before a run.
double operand_bytes(std::size_t rows, std::size_t cols);
/// Of its int16 rows alone.
double fine_bytes(std::size_t rows, std::size_t cols);

}  // namespace gcbs
