// Block results -> one list of edges in compressed rows.
//
// Every block knows its places and writes the ranges of their rows, so blocks are counted and copied in
// parallel, and freed as they are copied: at most 8 bytes an edge are held. Where places stand for other
// or for several rows, columns become rows of the matrix, are sorted once a place, and written for each
// of the place's rows.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "similarity/join.h"

namespace gcbs {
namespace {

/// Goes through the rows of a block: the columns of a place, kept and further ones, merged in order.
class BlockRows {
 public:
  BlockRows(const EdgeBlock& block, const MeteredVector<FinePair>& more, const PlaceRows& x,
            const PlaceRows& y, bool keep_diagonal)
      : block_(block),
        x_(x),
        y_(y),
        keep_diagonal_(keep_diagonal),
        columns_(block.columns.data()),
        end_(more.data() + more.size()),
        more_(std::lower_bound(more.data(), end_, block.first_row,
                               [](const FinePair& pair, std::size_t row) { return pair.row < row; })) {}

  /// Calls give(row, number of columns) for every row of the block, as for_each has them.
  template <class Give>
  void count(Give&& give) {
    for (std::size_t r = 0; r < block_.counts.size(); ++r) {
      const std::size_t place = block_.first_row + r;
      const Vertex *const begin = columns_, *const end = begin + block_.counts[r];
      const FinePair* const more = more_;
      EdgeIndex all = 0;
      for (; columns_ != end; ++columns_) all += y_.weight(*columns_);
      for (; more_ != end_ && more_->row == place; ++more_) all += y_.weight(more_->col);
      for (std::size_t k = 0; k < x_.weight(place); ++k) {
        const Vertex row = row_of(place, k), own = y_.place(row);
        const FinePair* const found = std::lower_bound(
            more, more_, own, [](const FinePair& pair, Vertex column) { return pair.col < column; });
        const bool has_diagonal =
            std::binary_search(begin, end, own) || (found != more_ && found->col == own);
        give(row, all - (has_diagonal && !keep_diagonal_ ? 1 : 0));
      }
    }
  }

  /// Calls give(row, columns) for every row of the block, columns ascending, the diagonal left out unless
  /// wanted.
  template <class Give>
  void for_each(Give&& give) {
    for (std::size_t r = 0; r < block_.counts.size(); ++r) {
      const std::size_t place = block_.first_row + r;
      gather(r, place);
      for (std::size_t k = 0; k < x_.weight(place); ++k) {
        const Vertex row = row_of(place, k);
        const auto diagonal =
            keep_diagonal_ ? found_.end() : std::lower_bound(found_.begin(), found_.end(), row);
        if (diagonal == found_.end() || *diagonal != row) {
          give(row, std::span<const Vertex>(found_), std::span<const Vertex>());
          continue;
        }
        const auto before = static_cast<std::size_t>(diagonal - found_.begin());
        give(row, std::span<const Vertex>(found_).first(before),
             std::span<const Vertex>(found_).subspan(before + 1));
      }
    }
  }

 private:
  Vertex row_of(std::size_t place, std::size_t k) const noexcept {
    return x_.empty() ? static_cast<Vertex>(place) : x_.rows[x_.offsets[place] + k];
  }

  void gather(std::size_t r, std::size_t place) {
    found_.clear();
    for (const Vertex* end = columns_ + block_.counts[r]; columns_ != end; ++columns_) {
      for (; more_ != end_ && more_->row == place && more_->col < *columns_; ++more_) add(more_->col);
      add(*columns_);
    }
    for (; more_ != end_ && more_->row == place; ++more_) add(more_->col);
    if (!y_.empty()) sort_found();
  }

  /// Columns are distinct: where they are many, a bit each, read in order, is faster than a sort.
  void sort_found() {
    const std::size_t words = (y_.rows.size() + 63) / 64;
    if (words > 8 * found_.size()) {
      std::sort(found_.begin(), found_.end());
      return;
    }
    marks_.resize(words);
    for (const Vertex column : found_) marks_[column / 64] |= std::uint64_t{1} << column % 64;
    auto out = found_.begin();
    for (std::size_t w = 0; w < words; ++w)
      for (std::uint64_t bits = std::exchange(marks_[w], 0); bits != 0; bits &= bits - 1)
        *out++ = static_cast<Vertex>(w * 64 + static_cast<unsigned>(std::countr_zero(bits)));
  }

  void add(Vertex place) {
    if (y_.empty())
      found_.push_back(place);
    else
      found_.insert(found_.end(), y_.rows.data() + y_.offsets[place], y_.rows.data() + y_.offsets[place + 1]);
  }

  const EdgeBlock& block_;
  const PlaceRows &x_, &y_;
  bool keep_diagonal_;
  const Vertex* columns_;
  const FinePair* end_;
  const FinePair* more_;
  std::vector<Vertex> found_;
  std::vector<std::uint64_t> marks_;  ///< zero between two rows
};

}  // namespace

Edges assemble_edges(JoinResult&& join, const MeteredVector<FinePair>& more, const PlaceRows& places_x,
                     const PlaceRows& places_y, std::size_t rows, bool keep_diagonal, const RunContext& run) {
  Edges edges;
  edges.offsets = Array<EdgeIndex>(rows + 1, run.meter);
  edges.offsets[0] = 0;
  parallel_for(run, join.blocks.size(), 1, [&](std::size_t b, std::size_t, unsigned) {
    BlockRows(join.blocks[b], more, places_x, places_y, keep_diagonal)
        .count([&](Vertex row, EdgeIndex columns) { edges.offsets[row + 1] = columns; });
  });
  for (std::size_t row = 0; row < rows; ++row) edges.offsets[row + 1] += edges.offsets[row];
  edges.columns = Array<Vertex>(edges.offsets[rows], run.meter);
  parallel_for(run, join.blocks.size(), 1, [&](std::size_t b, std::size_t, unsigned) {
    EdgeBlock& block = join.blocks[b];
    BlockRows(block, more, places_x, places_y, keep_diagonal)
        .for_each([&](Vertex row, std::span<const Vertex> before, std::span<const Vertex> after) {
          Vertex* out = std::copy(before.begin(), before.end(), edges.columns.data() + edges.offsets[row]);
          std::copy(after.begin(), after.end(), out);
        });
    block.columns = {};
  });
  return edges;
}

}  // namespace gcbs
