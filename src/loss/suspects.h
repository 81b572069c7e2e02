// Pairs that look like false negatives, judged block by block (contract C10): never listed.
#pragma once

#include <cstdint>
#include <vector>

#include "loss/part.h"
#include "similarity/admissible.h"
#include "similarity/definition.h"
#include "similarity/dense.h"

namespace gcbs {

/// One kind of similarity that is judged: s(i,j) of a part, and s(j,i) where that may differ.
struct JudgedPart {
  const LossPart* part;
  bool both_ways;
};

/// A worker's buffers.
class Suspects {
 public:
  Suspects(std::span<const JudgedPart> judged, const Admissible& admissible, const Kernel& kernel,
           std::size_t band_rows, std::size_t tile_columns, const RunContext& run);

  void take_rows(const BatchBand& band);
  void take_columns(std::span<const Vertex> members);

  /// Sets the bits of suspects of `rows` rows of the band, from `row` on, and the columns of a panel, the
  /// first of which is columns[0]. rows <= kDenseRows; excluded: a row.
  void judge(const BatchBand& band, std::size_t row, std::size_t rows, std::size_t panel,
             std::span<const Vertex> columns, std::uint16_t* excluded);

 private:
  /// One direction of one kind.
  struct Side {
    const LossPart* part;
    bool turned;          ///< s(j,i): the right rows of the band against the left columns of the tile
    DenseRows rows;       ///< of the band
    DensePanels columns;  ///< of the tile
    Definition definition;
  };
  void judge(Side& side, const BatchBand& band, std::size_t row, std::size_t rows, std::size_t panel,
             std::span<const Vertex> columns, std::uint16_t* excluded);

  const Admissible& admissible_;
  std::vector<Side> sides_;
  Array<float> products_;
};

}  // namespace gcbs
