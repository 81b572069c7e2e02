#include "loss/suspects.h"

#include <algorithm>

namespace gcbs {
namespace {

/// A table needs no buffers.
std::size_t needed(const LossPart& pairs, std::size_t rows) { return pairs.is_exact() ? 0 : rows; }

}  // namespace

Suspects::Suspects(const LossPart& pairs, const Admissible& admissible, const Kernel& kernel,
                   std::size_t band_rows, std::size_t tile_columns, const RunContext& run)
    : pairs_(pairs),
      admissible_(admissible),
      x_(kernel, needed(pairs, band_rows), pairs.fine.x.stride, run),
      y_(kernel, needed(pairs, band_rows), pairs.fine.y.stride, run),
      panels_x_(kernel, needed(pairs, tile_columns), pairs.fine.x.stride, run),
      panels_y_(kernel, needed(pairs, tile_columns), pairs.fine.y.stride, run),
      forth_(kDenseRows * kDenseColumns),
      back_(kDenseRows * kDenseColumns),
      definition_(*pairs.left, *pairs.right) {}

void Suspects::take_rows(const BatchBand& band) {
  if (pairs_.is_exact()) return;
  const std::span<const Vertex> rows = band.members.subspan(band.first, band.count);
  x_.gather(pairs_.fine.x, rows);
  y_.gather(pairs_.fine.y, rows);
}

void Suspects::take_columns(std::span<const Vertex> members) {
  if (pairs_.is_exact()) return;
  panels_x_.gather(pairs_.fine.x, members);
  panels_y_.gather(pairs_.fine.y, members);
}

bool Suspects::is_suspect(Vertex i, Vertex j, double limit) {
  if (pairs_.is_exact()) {
    const std::size_t n = pairs_.count();
    return std::max(pairs_.table[i * n + j], pairs_.table[j * n + i]) > limit;
  }
  const FinePair both[2] = {{i, j}, {j, i}};
  double values[2];
  definition_.evaluate(both, values);
  return std::max(values[0], values[1]) > limit;
}

void Suspects::judge(const BatchBand& band, std::size_t row, std::size_t rows, std::size_t panel,
                     std::span<const Vertex> columns, std::uint16_t* excluded) {
  if (!pairs_.is_exact()) {
    x_.multiply(row, panels_y_, panel, forth_.data());
    y_.multiply(row, panels_x_, panel, back_.data());
  }
  for (std::size_t r = 0; r < rows; ++r) {
    const Vertex i = band.row(row + r);
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Vertex j = columns[c];
      if (i == j) continue;
      const double limit = admissible_.limit_of(i, j);
      bool suspect;
      if (pairs_.is_exact()) {
        suspect = is_suspect(i, j, limit);
      } else {
        const std::size_t at = r * kDenseColumns + c;
        const double forth = pairs_.value(forth_[at], i, j), back = pairs_.value(back_[at], j, i);
        const double forth_bound = pairs_.bound.row[i] + pairs_.bound.col[j];
        const double back_bound = pairs_.bound.row[j] + pairs_.bound.col[i];
        suspect = std::max(forth - forth_bound, back - back_bound) > limit;
        if (!suspect && std::max(forth + forth_bound, back + back_bound) > limit)
          suspect = is_suspect(i, j, limit);
      }
      excluded[r] = static_cast<std::uint16_t>(excluded[r] | std::uint16_t{suspect} << c);
    }
  }
}

}  // namespace gcbs
