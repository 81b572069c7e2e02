// Pairs that look like false negatives, judged block by block (contract C10): never listed.
#pragma once

#include <cstdint>

#include "similarity/admissible.h"
#include "loss/part.h"
#include "similarity/definition.h"
#include "similarity/dense.h"

namespace gcbs {

/// A worker's buffers. `pairs` is the part of X and Y.
class Suspects {
 public:
  Suspects(const LossPart& pairs, const Admissible& admissible, const Kernel& kernel, std::size_t band_rows,
           std::size_t tile_columns, const RunContext& run);

  void take_rows(const BatchBand& band);
  void take_columns(std::span<const Vertex> members);

  /// Sets the bits of suspects of `rows` rows of the band, from `row` on, and the columns of a panel, the
  /// first of which is columns[0]. rows <= kDenseRows; excluded: a row.
  void judge(const BatchBand& band, std::size_t row, std::size_t rows, std::size_t panel,
             std::span<const Vertex> columns, std::uint16_t* excluded);

 private:
  bool is_suspect(Vertex i, Vertex j, double limit);

  const LossPart& pairs_;
  const Admissible& admissible_;
  DenseRows x_, y_;                  ///< rows of the band
  DensePanels panels_x_, panels_y_;  ///< columns of the tile
  Array<float> forth_, back_;        ///< products of s(i,j), of s(j,i)
  Definition definition_;
};

}  // namespace gcbs
