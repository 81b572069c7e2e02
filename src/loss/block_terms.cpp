// One loop nest for batches and for the global loss.
//
// A tile of 64 columns is packed; the band's rows go past it in slices that fit L2 beside it. Products come
// in blocks of 48 x 16. Sums have a fixed order: a row's exponentials are added in 16 lanes over 1,024
// columns, then in float64; a column's over 48 rows, then in float64; bands are a fixed cut of the batch.
#include "loss/block_terms.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace gcbs {
namespace {

constexpr std::size_t kTileColumns = 64, kSliceRows = 4 * kDenseRows, kTilesALane = 16;
constexpr std::size_t kLeastBand = 16 * kDenseRows, kMostBands = 96;
constexpr double kLog2E = 0x1.71547652b82fep+0, kLn2 = 0x1.62e42fefa39efp-1;
/// Exponents of |s| <= 1 stay within 116 powers of two; taking 8 off leaves room for sums of float32.
constexpr double kLeastFastTemperature = 0.0125, kTakenOff = 8;

}  // namespace

std::size_t band_rows(std::size_t batch_size) noexcept {
  const std::size_t rows = std::max(kLeastBand, (batch_size + kMostBands - 1) / kMostBands);
  return (rows + kDenseRows - 1) / kDenseRows * kDenseRows;
}

BlockTerms::BlockTerms(const LossPart& part, std::span<const JudgedPart> judged, const Admissible& admissible,
                       double temperature, const Kernel& kernel, std::size_t largest_batch,
                       const RunContext& run)
    : part_(part),
      admissible_(admissible),
      temperature_(temperature),
      kernel_(kernel),
      run_(run),
      fast_(!part.is_exact() && temperature >= kLeastFastTemperature),
      capacity_(
          std::min(band_rows(largest_batch), (largest_batch + kDenseRows - 1) / kDenseRows * kDenseRows)),
      rows_(kernel, part.is_exact() ? 0 : capacity_, part.fine.x.stride, run),
      panels_(kernel, part.is_exact() ? 0 : kTileColumns, part.fine.y.stride, run),
      masks_(capacity_),
      lanes_(capacity_ * kDenseColumns, run.meter),
      most_(capacity_ * kDenseColumns, run.meter),
      row_add_(capacity_, run.meter),
      col_add_(kTileColumns, 0.0f) {
  if (part.paired && admissible.has_margins())
    suspects_.emplace(judged, admissible, kernel, capacity_, kTileColumns, run);
}

double BlockTerms::unit() const noexcept { return kTakenOff * kLn2; }

/// What does not count whatever its value: the pair itself, its group-mates, columns beyond the end.
void BlockTerms::exclude_known(const BatchBand& band, std::size_t column, std::size_t columns) {
  const std::uint64_t beyond = columns == kTileColumns ? 0 : ~std::uint64_t{0} << columns;
  any_masked_ = beyond != 0;
  std::fill_n(masks_.begin(), band.count, beyond);
  if (!part_.paired) return;
  for (std::size_t c = column; c < column + columns; ++c)
    if (c >= band.first && c < band.first + band.count) {
      masks_[c - band.first] |= std::uint64_t{1} << (c - column);
      any_masked_ = true;
    }
  if (admissible_.groups.empty()) return;
  for (std::size_t r = 0; r < band.count; ++r) {
    const std::uint64_t mates = mates_.in_tile(r, column, columns);
    masks_[r] |= mates;
    any_masked_ = any_masked_ || mates != 0;
  }
}

template <class Sink>
void BlockTerms::scan(const BatchBand& band, Sink&& sink) {
  const std::size_t size = band.members.size();
  const bool dense = !part_.is_exact();
  if (dense) rows_.gather(part_.fine.x, band.members.subspan(band.first, band.count));
  if (suspects_) suspects_->take_rows(band);
  if (part_.paired && !admissible_.groups.empty()) mates_.start(admissible_.groups, band);
  alignas(64) std::array<float, kDenseRows * kDenseColumns> products;
  std::array<std::uint16_t, kDenseRows> excluded;
  for (std::size_t column = 0; column < size; column += kTileColumns) {
    const std::size_t columns = std::min(kTileColumns, size - column);
    const std::span<const Vertex> members = band.members.subspan(column, columns);
    if (dense) panels_.gather(part_.fine.y, members);
    if (suspects_) suspects_->take_columns(members);
    exclude_known(band, column, columns);
    const std::size_t panels = (columns + kDenseColumns - 1) / kDenseColumns;
    for (std::size_t slice = 0; slice < band.count; slice += kSliceRows)
      for (std::size_t panel = 0; panel < panels; ++panel)
        for (std::size_t row = slice; row < std::min(slice + kSliceRows, band.count); row += kDenseRows) {
          const std::size_t first = panel * kDenseColumns;
          Block block{row,
                      std::min(kDenseRows, band.count - row),
                      column + first,
                      std::min(kDenseColumns, columns - first),
                      nullptr,
                      nullptr};
          if (dense) {
            rows_.multiply(row, panels_, panel, products.data());
            block.products = products.data();
          }
          if (any_masked_ || suspects_) {
            for (std::size_t r = 0; r < block.rows; ++r)
              excluded[r] = static_cast<std::uint16_t>(masks_[row + r] >> first);
            if (suspects_)
              suspects_->judge(band, row, block.rows, panel, members.subspan(first, block.columns),
                               excluded.data());
            block.excluded = excluded.data();
          }
          sink(block, column, first);
        }
    run_.check_stop();
  }
}

void BlockTerms::sums(const BatchBand& band, const Sums& out) {
  const double per_s = kLog2E / temperature_;
  const auto multiply = static_cast<float>(part_.fine.x.scale * part_.fine.y.scale * per_s);
  const bool all = out.row_most != nullptr;
  const std::size_t size = band.members.size();
  for (std::size_t r = 0; r < band.count; ++r)
    row_add_[r] = static_cast<float>(part_.fine.x.offset[band.row(r)] * per_s - kTakenOff);
  std::fill_n(out.rows, band.count, 0.0);
  std::fill_n(lanes_.begin(), band.count * kDenseColumns, 0.0f);
  if (all) {
    std::fill_n(out.row_most, band.count, 0.0);
    std::fill_n(most_.begin(), band.count * kDenseColumns, 0.0f);
    std::fill_n(out.row_count, band.count, static_cast<std::uint32_t>(size));
    for (std::size_t c = 0; c < size; ++c) out.col_count[c] += static_cast<std::uint32_t>(band.count);
  }
  std::size_t tile = ~std::size_t{0};
  scan(band, [&](const Block& block, std::size_t column, std::size_t first) {
    if (column != tile) {
      if (column != 0 && column % (kTilesALane * kTileColumns) == 0) flush_lanes(out, band.count);
      tile = column;
      for (std::size_t c = 0; c < std::min(kTileColumns, size - column); ++c)
        col_add_[c] = static_cast<float>(part_.fine.y.offset[band.members[column + c]] * per_s);
    }
    std::array<float, kDenseColumns> col_sums{}, col_most{};
    const std::size_t lane = block.row * kDenseColumns;
    kernel_.exp_sums({block.products, block.rows, multiply, row_add_.data() + block.row,
                      col_add_.data() + first, block.excluded, lanes_.data() + lane, col_sums.data(),
                      all ? most_.data() + lane : nullptr, all ? col_most.data() : nullptr});
    for (std::size_t c = 0; c < block.columns; ++c) {
      out.cols[block.column + c] += static_cast<double>(col_sums[c]);
      if (all)
        out.col_most[block.column + c] =
            std::max(out.col_most[block.column + c], static_cast<double>(col_most[c]));
    }
    if (block.excluded != nullptr && all) take_off(block, out);
  });
  flush_lanes(out, band.count);
}

void BlockTerms::flush_lanes(const Sums& out, std::size_t count) {
  for (std::size_t r = 0; r < count; ++r)
    for (std::size_t l = r * kDenseColumns; l < (r + 1) * kDenseColumns; ++l) {
      out.rows[r] += static_cast<double>(lanes_[l]);
      lanes_[l] = 0;
      if (out.row_most != nullptr) out.row_most[r] = std::max(out.row_most[r], static_cast<double>(most_[l]));
    }
}

/// What is excluded was counted at first.
void BlockTerms::take_off(const Block& block, const Sums& out) {
  for (std::size_t r = 0; r < block.rows; ++r)
    for (std::uint32_t bits = block.excluded[r] & ((1u << block.columns) - 1); bits != 0; bits &= bits - 1) {
      --out.row_count[block.row + r];
      --out.col_count[block.column + static_cast<std::size_t>(std::countr_zero(bits))];
    }
}

double BlockTerms::value(const BatchBand& band, const Block& block, std::size_t r,
                         std::size_t c) const noexcept {
  const Vertex i = band.row(block.row + r), j = band.members[block.column + c];
  if (block.products == nullptr) return part_.table[i * part_.count() + j];
  return part_.value(block.products[r * kDenseColumns + c], i, j);
}

void BlockTerms::terms(const BatchBand& band, Terms* rows, Terms* cols) {
  std::fill_n(rows, band.count, Terms{});
  scan(band, [&](const Block& block, std::size_t, std::size_t) {
    for (std::size_t r = 0; r < block.rows; ++r)
      for (std::size_t c = 0; c < block.columns; ++c) {
        if (block.excluded != nullptr && (block.excluded[r] >> c & 1) != 0) continue;
        const double s = value(band, block, r, c), exponent = s / temperature_;
        rows[block.row + r].add(s, exponent);
        cols[block.column + c].add(s, exponent);
      }
  });
}

}  // namespace gcbs
