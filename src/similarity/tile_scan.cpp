// A tile is scanned panel by panel. Where the head comes in two parts, the second is multiplied only
// for groups of rows in which the first left a candidate: in cluster order most have none.
//
// Requires: operands packed for the kernel. Ensures: every pair above its limit is a candidate, the same
// ones for every cut into slices. Cost: 2 * depth int8 operations a pair.
#include "similarity/tile_scan.h"

#include <algorithm>
#include <cmath>

#include "cpu/cache.h"

namespace gcbs {

TileScan::TileScan(const CoarsePrepared& coarse, const Kernel& kernel, std::span<const Limits> limits,
                   std::size_t columns, std::size_t slice_rows)
    : coarse_(coarse),
      kernel_(kernel),
      limits_(limits),
      all_columns_(columns),
      slice_rows_(slice_rows),
      unit_rows_(coarse.parts[0].x.unit_rows),
      columns_(coarse.parts[0].y.unit_rows),
      products_(slice_rows * kTileColumns),
      masks_(slice_rows * kTileColumns / columns_),
      sure_(slice_rows * kTileColumns / columns_) {}

TileHits TileScan::run(std::size_t first, std::size_t rows, std::size_t tile, const FineOperand* ahead) {
  const CoarsePart& part = coarse_.parts[0];
  const std::size_t first_panel = tile * kTileColumns / columns_;
  const std::size_t last_panel = std::min(first_panel + kTileColumns / columns_, part.y.units);
  const std::size_t groups = (rows + unit_rows_ - 1) / unit_rows_;
  for (std::size_t panel = first_panel; panel < last_panel; ++panel) {
    ScanArguments args = arguments(0, first, 0, groups, panel, panel - first_panel);
    args.y_next = part.y.unit(std::min(panel + 1, part.y.units - 1));
    if (ahead != nullptr) {
      const std::size_t column = panel * columns_, columns = std::min(columns_, ahead->count - column);
      args.fine = ahead->row(column);
      args.fine_lines = columns * ahead->stride / 32;
    }
    kernel_.scan(args);
    if (coarse_.parts.size() > 1) continue_scan(first, groups, panel, panel - first_panel);
  }
  const std::size_t columns = std::min(kTileColumns, all_columns_ - tile * kTileColumns);
  return {masks_.data(), sure_.data(),
          slice_rows_,   last_panel - first_panel,
          columns_,      columns == kTileColumns ? ~std::uint64_t{0} : (std::uint64_t{1} << columns) - 1};
}

/// A kernel call for `groups` groups of the slice that begins at row `first`, from its group
/// `first_group` on.
ScanArguments TileScan::arguments(std::size_t part_index, std::size_t first, std::size_t first_group,
                                  std::size_t groups, std::size_t panel, std::size_t panel_of_tile) {
  const CoarsePart& part = coarse_.parts[part_index];
  const Limits& limits = limits_[part_index];
  const std::size_t row = first + first_group * unit_rows_;
  const std::size_t place = panel_of_tile * slice_rows_ + first_group * unit_rows_;
  return {part.x.unit(row / unit_rows_),
          groups,
          part.x.unit_bytes,
          part.y.unit(panel),
          nullptr,
          nullptr,
          0,
          part.layout.steps,
          part.layout.widen,
          limits.row_low.data() + row,
          limits.row_high.data() + row,
          limits.col_low.data() + panel * columns_,
          limits.col_high.data() + panel * columns_,
          products_.data() + place * columns_,
          part_index > 0,
          masks_.data() + place,
          sure_.data() + place};
}

/// The second part, for the groups that have a candidate.
void TileScan::continue_scan(std::size_t first, std::size_t groups, std::size_t panel,
                             std::size_t panel_of_tile) {
  const std::uint32_t* masks = masks_.data() + panel_of_tile * slice_rows_;
  const auto has_candidate = [&](std::size_t group) {
    std::uint32_t any = 0;
    for (std::size_t r = 0; r < unit_rows_; ++r) any |= masks[group * unit_rows_ + r];
    return any != 0;
  };
  for (std::size_t begin = 0; begin < groups;) {
    if (!has_candidate(begin)) {
      ++begin;
      continue;
    }
    std::size_t end = begin + 1;
    while (end < groups && has_candidate(end)) ++end;
    kernel_.scan(arguments(1, first, begin, end - begin, panel, panel_of_tile));
    begin = end + 1;
  }
}

std::size_t choose_slice_rows(const FinePrepared& fine, const CoarsePrepared& coarse) {
  const std::size_t unit = coarse.parts[0].x.unit_rows;
  std::size_t row_bytes = fine.x.stride * sizeof(std::int16_t) + kTileColumns * sizeof(std::int32_t);
  for (const CoarsePart& part : coarse.parts) row_bytes += part.x.unit_bytes / unit;
  const std::size_t rows = std::clamp<std::size_t>(level2_cache_bytes() / 10 * 6 / row_bytes, 48, 2048);
  return (rows + unit - 1) / unit * unit;
}

std::size_t choose_block_rows(std::size_t rows, std::size_t slice_rows, std::size_t most_slices,
                              const RunContext& run) {
  const std::size_t by_balance = rows / (4 * std::max(run.threads, 1u)) + 1;
  const std::size_t slices = (std::min(most_slices * slice_rows, by_balance) + slice_rows - 1) / slice_rows;
  return slices * slice_rows;
}

double operand_bytes(std::size_t rows, std::size_t cols) { return 1.535 * fine_bytes(rows, cols); }

double fine_bytes(std::size_t rows, std::size_t cols) {
  const double padded = std::ceil(static_cast<double>(cols) / 64) * 64;
  return static_cast<double>(rows) * padded * 2;
}

}  // namespace gcbs
