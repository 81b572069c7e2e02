// Block results -> one list of edges in compressed rows.
//
// Every block knows its rows and writes a range of its own, so blocks are counted and copied in
// parallel, and freed as they are copied: at most 8 bytes an edge are held.
#include <algorithm>

#include "similarity/join.h"

namespace gcbs {
namespace {

/// A row's kept columns and its further ones, merged in order, the diagonal left out unless wanted.
class RowMerge {
 public:
  RowMerge(const EdgeBlock& block, const std::vector<FinePair>& more, bool keep_diagonal)
      : block_(block),
        keep_diagonal_(keep_diagonal),
        columns_(block.columns.data()),
        end_(more.data() + more.size()),
        more_(std::lower_bound(more.data(), end_, block.first_row,
                               [](const FinePair& pair, std::size_t row) { return pair.row < row; })) {}

  /// Calls emit(column) for the next row of the block.
  template <class Emit>
  void next(std::size_t r, Emit&& emit) {
    const auto row = static_cast<Vertex>(block_.first_row + r);
    const auto give = [&](Vertex column) {
      if (keep_diagonal_ || column != row) emit(column);
    };
    for (const Vertex* end = columns_ + block_.counts[r]; columns_ != end; ++columns_) {
      for (; more_ != end_ && more_->row == row && more_->col < *columns_; ++more_) give(more_->col);
      give(*columns_);
    }
    for (; more_ != end_ && more_->row == row; ++more_) give(more_->col);
  }

 private:
  const EdgeBlock& block_;
  bool keep_diagonal_;
  const Vertex* columns_;
  const FinePair* end_;
  const FinePair* more_;
};

}  // namespace

Edges assemble_edges(JoinResult&& join, const std::vector<FinePair>& more, std::size_t rows,
                     bool keep_diagonal, const RunContext& run) {
  Edges edges;
  edges.offsets = Array<EdgeIndex>(rows + 1, run.meter);
  edges.offsets[0] = 0;
  parallel_for(run, join.blocks.size(), 1, [&](std::size_t b, std::size_t, unsigned) {
    const EdgeBlock& block = join.blocks[b];
    RowMerge merge(block, more, keep_diagonal);
    for (std::size_t r = 0; r < block.counts.size(); ++r) {
      EdgeIndex count = 0;
      merge.next(r, [&](Vertex) { ++count; });
      edges.offsets[block.first_row + r + 1] = count;
    }
  });
  for (std::size_t row = 0; row < rows; ++row) edges.offsets[row + 1] += edges.offsets[row];
  edges.columns = Array<Vertex>(edges.offsets[rows], run.meter);
  parallel_for(run, join.blocks.size(), 1, [&](std::size_t b, std::size_t, unsigned) {
    EdgeBlock& block = join.blocks[b];
    RowMerge merge(block, more, keep_diagonal);
    for (std::size_t r = 0; r < block.counts.size(); ++r) {
      Vertex* out = edges.columns.data() + edges.offsets[block.first_row + r];
      merge.next(r, [&](Vertex column) { *out++ = column; });
    }
    block.columns = {};
  });
  return edges;
}

}  // namespace gcbs
