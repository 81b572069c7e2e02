// Block results -> one list of edges in compressed rows.
//
// Every block knows its rows and writes ranges of its own, so blocks are counted and copied in
// parallel, and freed as they are copied: at most 8 bytes an edge are held. Operands in another order
// than the matrices: columns become those of the matrix and are sorted again, row by row.
#include <algorithm>

#include "similarity/join.h"

namespace gcbs {
namespace {

Vertex row_of(const Array<Vertex>& places, std::size_t place) {
  return places.empty() ? static_cast<Vertex>(place) : places[place];
}

/// A row's kept columns and its further ones, merged in order, the diagonal left out unless wanted.
class RowMerge {
 public:
  RowMerge(const EdgeBlock& block, const std::vector<FinePair>& more, const Places& places,
           bool keep_diagonal)
      : block_(block),
        places_(places),
        keep_diagonal_(keep_diagonal),
        columns_(block.columns.data()),
        end_(more.data() + more.size()),
        more_(std::lower_bound(more.data(), end_, block.first_row,
                               [](const FinePair& pair, std::size_t row) { return pair.row < row; })) {}

  /// Calls emit(column) for the next row of the block; returns that row.
  template <class Emit>
  Vertex next(std::size_t r, Emit&& emit) {
    const std::size_t place = block_.first_row + r;
    const Vertex row = row_of(places_.x, place);
    const auto give = [&](Vertex column_place) {
      const Vertex column = row_of(places_.y, column_place);
      if (keep_diagonal_ || column != row) emit(column);
    };
    for (const Vertex* end = columns_ + block_.counts[r]; columns_ != end; ++columns_) {
      for (; more_ != end_ && more_->row == place && more_->col < *columns_; ++more_) give(more_->col);
      give(*columns_);
    }
    for (; more_ != end_ && more_->row == place; ++more_) give(more_->col);
    return row;
  }

 private:
  const EdgeBlock& block_;
  const Places& places_;
  bool keep_diagonal_;
  const Vertex* columns_;
  const FinePair* end_;
  const FinePair* more_;
};

}  // namespace

Edges assemble_edges(JoinResult&& join, const std::vector<FinePair>& more, const Places& places,
                     std::size_t rows, bool keep_diagonal, const RunContext& run) {
  Edges edges;
  edges.offsets = Array<EdgeIndex>(rows + 1, run.meter);
  edges.offsets[0] = 0;
  parallel_for(run, join.blocks.size(), 1, [&](std::size_t b, std::size_t, unsigned) {
    const EdgeBlock& block = join.blocks[b];
    RowMerge merge(block, more, places, keep_diagonal);
    for (std::size_t r = 0; r < block.counts.size(); ++r) {
      EdgeIndex count = 0;
      const Vertex row = merge.next(r, [&](Vertex) { ++count; });
      edges.offsets[row + 1] = count;
    }
  });
  for (std::size_t row = 0; row < rows; ++row) edges.offsets[row + 1] += edges.offsets[row];
  edges.columns = Array<Vertex>(edges.offsets[rows], run.meter);
  parallel_for(run, join.blocks.size(), 1, [&](std::size_t b, std::size_t, unsigned) {
    EdgeBlock& block = join.blocks[b];
    RowMerge merge(block, more, places, keep_diagonal);
    for (std::size_t r = 0; r < block.counts.size(); ++r) {
      const Vertex row = row_of(places.x, block.first_row + r);
      Vertex* out = edges.columns.data() + edges.offsets[row];
      merge.next(r, [&](Vertex column) { *out++ = column; });
      if (!places.y.empty()) std::sort(edges.columns.data() + edges.offsets[row], out);
    }
    block.columns = {};
  });
  return edges;
}

}  // namespace gcbs
