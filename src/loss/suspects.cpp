// Kind by kind and direction by direction: the products of a block against the limits of its pairs. What the
// bound of a product leaves open is decided by the definition.
#include "loss/suspects.h"

#include <algorithm>

namespace gcbs {

Suspects::Suspects(std::span<const JudgedPart> judged, const Admissible& admissible, const Kernel& kernel,
                   std::size_t band_rows, std::size_t tile_columns, const RunContext& run)
    : admissible_(admissible), products_(kDenseRows * kDenseColumns) {
  for (const JudgedPart& kind : judged)
    for (const bool turned : {false, true}) {
      if (turned && !kind.both_ways) continue;
      const LossPart& part = *kind.part;
      const std::size_t stride = part.fine.x.stride;
      // A table needs no buffers.
      sides_.push_back({&part, turned, DenseRows(kernel, part.is_exact() ? 0 : band_rows, stride, run),
                        DensePanels(kernel, part.is_exact() ? 0 : tile_columns, stride, run),
                        Definition(*part.left, *part.right)});
    }
}

void Suspects::take_rows(const BatchBand& band) {
  const std::span<const Vertex> rows = band.members.subspan(band.first, band.count);
  for (Side& side : sides_)
    if (!side.part->is_exact()) side.rows.gather(side.turned ? side.part->fine.y : side.part->fine.x, rows);
}

void Suspects::take_columns(std::span<const Vertex> members) {
  for (Side& side : sides_)
    if (!side.part->is_exact())
      side.columns.gather(side.turned ? side.part->fine.x : side.part->fine.y, members);
}

void Suspects::judge(const BatchBand& band, std::size_t row, std::size_t rows, std::size_t panel,
                     std::span<const Vertex> columns, std::uint16_t* excluded) {
  for (Side& side : sides_) judge(side, band, row, rows, panel, columns, excluded);
}

void Suspects::judge(Side& side, const BatchBand& band, std::size_t row, std::size_t rows, std::size_t panel,
                     std::span<const Vertex> columns, std::uint16_t* excluded) {
  const LossPart& part = *side.part;
  if (!part.is_exact()) side.rows.multiply(row, side.columns, panel, products_.data());
  for (std::size_t r = 0; r < rows; ++r) {
    const Vertex of_row = band.row(row + r);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (of_row == columns[c]) continue;
      const Vertex i = side.turned ? columns[c] : of_row, j = side.turned ? of_row : columns[c];
      const double limit = admissible_.limit_of(i, j);
      bool suspect;
      if (part.is_exact()) {
        suspect = part.table[i * part.count() + j] > limit;
      } else {
        const double value = part.value(products_[r * kDenseColumns + c], i, j);
        const double bound = part.bound.row[i] + part.bound.col[j];
        suspect = value - bound > limit;
        if (!suspect && value + bound > limit) {
          const FinePair pair{i, j};
          double exact = 0;
          side.definition.evaluate({&pair, 1}, {&exact, 1});
          suspect = exact > limit;
        }
      }
      excluded[r] = static_cast<std::uint16_t>(excluded[r] | std::uint16_t{suspect} << c);
    }
  }
}

}  // namespace gcbs
