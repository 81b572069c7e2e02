// The join: what a scan of all pairs leaves above a band.
//
// Requires: operands packed for the kernel. Ensures: every pair with s > band.high is in a block or
// among the undecided, no pair with s <= band.low is in a block; the same sets for every thread count.
// Cost: 2 N^2 depth int8 operations, one int16 product for each pair that int8 cannot decide.
//
// A worker takes a block of X rows and walks Y in strips of kStripTiles tiles of 64 columns. The block is cut
// into slices that fit L2 together with a tile: each slice goes through the tiles of a strip, which wait in
// L3 for the next slice. TileScan yields the candidates. Each is surely above the band by its int8 bound,
// or is looked at again by an int16 product; what even that leaves open is undecided. Kept pairs are bits;
// a finished strip is turned into column lists, so that columns come out ascending without a sort.
// With a filter, kept pairs are listed as they are found, since equal columns share a place and may differ in
// what is admitted; what int8 puts surely above is above what the row's margin allows, and so is dropped.
#include "similarity/join.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <numeric>

#include "similarity/recheck.h"
#include "similarity/tile_scan.h"

namespace gcbs {
namespace {

constexpr std::size_t kStripTiles = 16;
constexpr std::size_t kSlicesABlock = 8;                 // many, so that a strip is fetched seldom
constexpr std::size_t kSettleAt = std::size_t{1} << 15;  // undecided pairs settled at once (point band)

/// Not a function, so that sorting inlines it.
constexpr auto by_row = [](const Undecided& a, const Undecided& b) {
  return a.row != b.row ? a.row < b.row : a.col < b.col;
};

struct Shared {
  const JoinInput& in;
  std::vector<Limits> limits;  // one a part
  const FineLimits fine_limits;
  Band band;
  std::uint64_t undecided_limit;  // when counting only: the count to stop at
  bool count_only;
  const RunContext& run;
  std::size_t slice_rows, block_rows;
  bool has_ceiling = false;  // with a filter: limits.back().row_high is what the row's margin allows

  std::vector<EdgeBlock> blocks{};
  std::vector<MeteredVector<Undecided>> undecided{};  // one list a block
  std::uint64_t* row_counts = nullptr;                // when counting only: by row, or null
  std::atomic<std::uint64_t> limited_total{0};        // undecided pairs so far; or the count
  std::atomic<bool> overflow{false};
};

/// A worker: takes one block of rows after the other through all tiles. Its buffers live on.
class BlockScan {
 public:
  explicit BlockScan(Shared& shared)
      : s_(shared),
        scan_(shared.in.coarse, shared.in.kernel, shared.limits, shared.in.fine.y.count, shared.slice_rows),
        recheck_(shared.in, shared.fine_limits, shared.slice_rows * kTileColumns),
        strip_(shared.in.filter != nullptr ? 0 : shared.block_rows * kStripTiles, std::uint64_t{0}),
        listed_(shared.run.meter),
        found_(shared.run.meter),
        strip_counts_(shared.run.meter),
        undecided_(shared.run.meter) {}

  void run(std::size_t block) {
    block_ = block;
    first_ = block * s_.block_rows;
    rows_ = std::min(s_.block_rows, s_.in.fine.x.count - first_);
    settled_ = 0;
    undecided_.clear();
    listed_.clear();
    found_.clear();
    strip_counts_.clear();
    const std::size_t tiles = count_tiles(s_.in.fine.y.count);
    for (std::size_t tile = 0; tile < tiles; tile += kStripTiles) {
      const std::size_t last = std::min(tiles, tile + kStripTiles);
      for (std::size_t slice = 0; slice < rows_; slice += s_.slice_rows) {
        for (std::size_t t = tile; t < last; ++t) scan_slice(slice, t);
        s_.run.check_stop();
        if (s_.overflow.load(std::memory_order_relaxed)) return;
      }
      flush_strip(tile * kTileColumns);
      if (s_.overflow.load(std::memory_order_relaxed)) return;
    }
    finish();
  }

 private:
  /// Rows from `slice` on, as many as fit L2, against one tile.
  void scan_slice(std::size_t slice, std::size_t tile) {
    const std::size_t rows = std::min(s_.slice_rows, rows_ - slice);
    const FineOperand* ahead = unsure_ >= kTileColumns ? &s_.in.fine.y : nullptr;
    const TileHits found = scan_.run(first_ + slice, rows, tile, ahead);
    if (s_.in.filter != nullptr) return scan_admissible(list_all(slice, rows, tile, found));
    unsure_ = sort_out(slice, rows, tile, found);
    if (unsure_ == 0) return;
    const std::size_t first_row = first_ + slice;
    std::uint64_t* words = strip_.data() + slice * kStripTiles + tile % kStripTiles;
    recheck_.run(unsure_, undecided_, [=](const FinePair& pair, bool keep) {
      words[(pair.row - first_row) * kStripTiles] |= std::uint64_t{keep} << pair.col % kTileColumns;
    });
  }

  /// Keeps the candidates that their int8 bound puts above the band and lists the others.
  std::size_t sort_out(std::size_t slice, std::size_t rows, std::size_t tile, TileHits found) {
    const std::size_t first_row = first_ + slice, first_column = tile * kTileColumns;
    FinePair* next = recheck_.pairs();
    for (std::size_t r = 0; r < rows; ++r) {
      const std::uint64_t mask = found.candidates(r);
      if (mask == 0) continue;
      const std::uint64_t sure = found.sure(r);
      strip_[(slice + r) * kStripTiles + tile % kStripTiles] |= sure;
      for (std::uint64_t open = mask & ~sure; open != 0; open &= open - 1)
        *next++ = {static_cast<Vertex>(first_row + r),
                   static_cast<Vertex>(first_column) + static_cast<Vertex>(std::countr_zero(open))};
    }
    return static_cast<std::size_t>(next - recheck_.pairs());
  }

  /// With a filter: the admissible ones of `count` candidates. What gathers is dealt with at once, because a
  /// place may stand for many columns.
  void scan_admissible(std::size_t count) {
    if (count == 0) return;
    recheck_.run_filtered(count, undecided_, [&](const FinePair& pair) { listed_.push_back(pair); });
    if (s_.count_only)
      count_listed(kSettleAt);
    else
      settle_or_count();
  }

  /// Once so many have gathered.
  void count_listed(std::size_t least) {
    if (undecided_.size() + listed_.size() < least) return;
    settle();
    add_to_limited(undecided_.size() + listed_.size());
    undecided_.clear();
    listed_.clear();
    settled_ = 0;
  }

  /// With a filter: all candidates, but those that their int8 bound puts above what their row allows.
  std::size_t list_all(std::size_t slice, std::size_t rows, std::size_t tile, TileHits found) {
    const std::size_t first_row = first_ + slice, first_column = tile * kTileColumns;
    FinePair* next = recheck_.pairs();
    for (std::size_t r = 0; r < rows; ++r) {
      std::uint64_t mask = found.candidates(r);
      if (mask != 0 && s_.has_ceiling) mask &= ~found.sure(r);
      for (; mask != 0; mask &= mask - 1)
        *next++ = {static_cast<Vertex>(first_row + r),
                   static_cast<Vertex>(first_column) + static_cast<Vertex>(std::countr_zero(mask))};
    }
    return static_cast<std::size_t>(next - recheck_.pairs());
  }

  void flush_strip(std::size_t first_column) {
    if (s_.in.filter != nullptr) return;
    if (s_.count_only) return count_strip(first_column);
    for (std::size_t r = 0; r < rows_; ++r) {
      std::uint64_t* words = strip_.data() + r * kStripTiles;
      const std::size_t before = found_.size();
      for (std::size_t w = 0; w < kStripTiles; ++w) {
        std::uint64_t word = words[w];
        words[w] = 0;
        while (word != 0) {
          found_.push_back(static_cast<Vertex>(first_column + w * 64) +
                           static_cast<Vertex>(std::countr_zero(word)));
          word &= word - 1;
        }
      }
      strip_counts_.push_back(static_cast<std::uint16_t>(found_.size() - before));
    }
    settle_or_count();
  }

  void count_strip(std::size_t first_column) {
    settle();
    std::uint64_t total = 0;
    const auto count = [&](std::size_t row, std::uint64_t pairs) {
      if (s_.row_counts != nullptr) s_.row_counts[row] += pairs;
      total += pairs;
    };
    for (const Undecided& pair : undecided_) count(pair.row, s_.in.weight(pair.row, pair.col));
    undecided_.clear();
    settled_ = 0;
    for (std::size_t w = 0; w < rows_ * kStripTiles; ++w) {
      const std::size_t row = first_ + w / kStripTiles, column = first_column + w % kStripTiles * 64;
      if (!s_.in.weighted()) count(row, static_cast<std::uint64_t>(std::popcount(strip_[w])));
      for (std::uint64_t word = s_.in.weighted() ? strip_[w] : 0; word != 0; word &= word - 1)
        count(row, s_.in.weight(row, column + static_cast<std::size_t>(std::countr_zero(word))));
      strip_[w] = 0;
    }
    add_to_limited(total);
  }

  /// Point band: settles what has gathered. Otherwise: counts it against the limit.
  void settle_or_count() {
    if (s_.band.is_point()) {
      if (undecided_.size() - settled_ >= kSettleAt) settle();
      return;
    }
    add_to_limited(undecided_.size() - settled_);
    settled_ = undecided_.size();
  }

  void add_to_limited(std::uint64_t count) {
    if (s_.limited_total.fetch_add(count, std::memory_order_relaxed) + count > s_.undecided_limit)
      s_.overflow.store(true, std::memory_order_relaxed);
  }

  void settle() {
    const auto begin = undecided_.begin() + static_cast<std::ptrdiff_t>(settled_);
    std::sort(begin, undecided_.end(), by_row);
    Definition definition = s_.in.definition();
    std::vector<FinePair> pairs;
    for (auto it = begin; it != undecided_.end(); ++it)
      if (!(definition.near({it->row, it->col}) + definition.near_bound() <= s_.band.high))
        pairs.push_back({it->row, it->col});
    std::vector<double> values(pairs.size());
    definition.evaluate(pairs, values);
    undecided_.resize(settled_);
    for (std::size_t p = 0; p < pairs.size(); ++p)
      if (values[p] > s_.band.high) undecided_.push_back({pairs[p].row, pairs[p].col, values[p]});
    settled_ = undecided_.size();
  }

  /// Row lists out of the strips' pieces.
  void finish() {
    if (s_.count_only) {
      if (s_.in.filter != nullptr) count_listed(0);
      return;
    }
    if (s_.band.is_point()) settle();
    std::sort(undecided_.begin(), undecided_.end(), by_row);
    EdgeBlock& block = s_.blocks[block_];
    block.first_row = first_;
    block.counts.assign(rows_, 0);
    s_.undecided[block_] = MeteredVector<Undecided>(undecided_.begin(), undecided_.end(), s_.run.meter);
    if (s_.in.filter != nullptr) return finish_listed(block);
    const std::size_t strips = strip_counts_.size() / rows_;
    for (std::size_t piece = 0; piece < strip_counts_.size(); ++piece)
      block.counts[piece % rows_] += strip_counts_[piece];
    std::vector<std::size_t> next(rows_);
    std::size_t total = 0;
    for (std::size_t r = 0; r < rows_; ++r) next[r] = total, total += block.counts[r];
    block.columns = Array<Vertex>(total, s_.run.meter);
    const Vertex* from = found_.data();
    for (std::size_t piece = 0; piece < strips * rows_; ++piece) {
      const std::size_t r = piece % rows_, count = strip_counts_[piece];
      std::copy_n(from, count, block.columns.data() + next[r]);
      next[r] += count;
      from += count;
    }
  }

  void finish_listed(EdgeBlock& block) {
    for (const FinePair& pair : listed_) ++block.counts[pair.row - first_];
    std::vector<std::size_t> next(rows_);
    std::size_t total = 0;
    for (std::size_t r = 0; r < rows_; ++r) next[r] = total, total += block.counts[r];
    block.columns = Array<Vertex>(total, s_.run.meter);
    for (const FinePair& pair : listed_) block.columns[next[pair.row - first_]++] = pair.col;
    for (std::size_t r = 0; r < rows_; ++r)
      std::sort(block.columns.data() + next[r] - block.counts[r], block.columns.data() + next[r]);
  }

  Shared& s_;
  TileScan scan_;
  std::size_t block_ = 0, first_ = 0, rows_ = 0;
  Recheck recheck_;
  std::size_t unsure_ = 0;  // candidates of the last tile that were looked at again
  Array<std::uint64_t> strip_;
  MeteredVector<FinePair> listed_;  // with a filter: kept pairs, columns as rows of Y
  MeteredVector<Vertex> found_;
  MeteredVector<std::uint16_t> strip_counts_;
  MeteredVector<Undecided> undecided_;
  std::size_t settled_ = 0;  // undecided pairs that are settled (point band) or counted
};

void scan_all(Shared& shared) {
  const std::size_t blocks = (shared.in.fine.x.count + shared.block_rows - 1) / shared.block_rows;
  shared.blocks.resize(blocks);
  shared.undecided.resize(blocks);
  std::vector<std::unique_ptr<BlockScan>> workers(std::max(shared.run.threads, 1u));
  parallel_for(
      shared.run, blocks, 1,
      [&](std::size_t block, std::size_t, unsigned worker) {
        if (shared.overflow.load(std::memory_order_relaxed)) return;
        if (!workers[worker]) workers[worker] = std::make_unique<BlockScan>(shared);
        const KernelOnThread ready(shared.in.kernel);
        workers[worker]->run(block);
      },
      Report::progress);
}

/// Puts the rows' margins in place of the band's upper end, where the filter judges by s(i,j) itself.
bool set_ceiling(const JoinInput& input, Limits& limits) {
  if (input.filter == nullptr || !input.filter->judge.has_margins() || input.filter->judge.is_guided())
    return false;
  const Array<double>& limit = input.filter->judge.admissible().limit;
  const LimitMaker make(input.fine, input.coarse.parts.back(), input.coarse.defect);
  for (std::size_t i = 0; i < input.fine.x.count; ++i)
    limits.row_high[i] = make.row_high(i, limit[input.fine.x.places.first(i)]);
  return true;
}

Shared make_shared_state(const JoinInput& input, Band band, std::uint64_t limit, bool count_only,
                         const RunContext& run) {
  const std::size_t slice_rows = choose_slice_rows(input.fine, input.coarse);
  std::vector<Limits> limits;
  for (const CoarsePart& part : input.coarse.parts)
    limits.push_back(separate_limits(input.fine, part, input.coarse.defect, band, run));
  const bool has_ceiling = set_ceiling(input, limits.back());
  return {input,
          std::move(limits),
          FineLimits(input.fine, band, run),
          band,
          limit,
          count_only,
          run,
          slice_rows,
          choose_block_rows(input.fine.x.count, slice_rows, kSlicesABlock, run),
          has_ceiling};
}

/// Pairs of rows in the blocks.
EdgeIndex count_kept(const JoinInput& input, const std::vector<EdgeBlock>& blocks, const RunContext& run) {
  std::vector<EdgeIndex> kept(blocks.size(), 0);
  parallel_for(run, blocks.size(), 1, [&](std::size_t b, std::size_t, unsigned) {
    const Vertex* column = blocks[b].columns.data();
    if (!input.weighted()) {
      kept[b] = blocks[b].columns.size();
      return;
    }
    for (std::size_t r = 0; r < blocks[b].counts.size(); ++r)
      for (const Vertex* end = column + blocks[b].counts[r]; column != end; ++column)
        kept[b] += input.weight(blocks[b].first_row + r, *column);
  });
  return std::accumulate(kept.begin(), kept.end(), EdgeIndex{0});
}

}  // namespace

std::uint64_t count_above(const JoinInput& input, double t, std::uint64_t stop_at, const RunContext& run) {
  Shared shared = make_shared_state(input, {t, t}, stop_at, true, run);
  scan_all(shared);
  return shared.limited_total;
}

Array<std::uint64_t> count_rows_above(const JoinInput& input, double t, const RunContext& run) {
  Array<std::uint64_t> counts(input.fine.x.count, std::uint64_t{0}, run.meter);
  Shared shared = make_shared_state(input, {t, t}, ~std::uint64_t{0}, true, run);
  shared.row_counts = counts.data();
  scan_all(shared);
  return counts;
}

JoinResult join_rows(const JoinInput& input, Band band, std::uint64_t undecided_limit,
                     const RunContext& run) {
  Shared shared = make_shared_state(input, band, undecided_limit, false, run);
  scan_all(shared);

  JoinResult result;
  result.undecided = MeteredVector<Undecided>(run.meter);
  result.overflow = shared.overflow;
  std::size_t undecided = 0;
  for (const auto& list : shared.undecided) undecided += list.size();
  result.undecided.reserve(undecided);
  for (auto& list : shared.undecided) {
    result.undecided.insert(result.undecided.end(), list.begin(), list.end());
    list = {};
  }
  result.kept = count_kept(input, shared.blocks, run);
  result.blocks = std::move(shared.blocks);
  return result;
}

}  // namespace gcbs
