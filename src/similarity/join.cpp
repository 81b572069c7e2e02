// The one loop nest, for every instruction set.
//
// Requires: operands packed for the kernel. Ensures: every pair with s > band.high is in a block or
// among the undecided, no pair with s <= band.low is in a block; the same sets for every thread count.
// Cost: 2 N^2 depth int8 operations, one int16 product for each pair that int8 cannot decide.
//
// A worker takes a block of X rows and walks Y in tiles of 64 columns; for each tile it goes through
// the block in parts that fit L2 together with the tile. A kernel call yields the products of a part
// with one panel and masks of candidates. Each candidate is surely above the band by its int8 bound,
// or is looked at again by an int16 product; what even that leaves open is undecided. Kept pairs are
// bits in a strip of kStripTiles tiles; a full strip is turned into column lists, so that rows come
// out sorted without a sort.
#include "similarity/join.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <memory>

#include "cpu/cache.h"
#include "similarity/definition.h"

namespace gcbs {
namespace {

constexpr std::size_t kTileColumns = 64, kStripTiles = 16;
constexpr std::size_t kPartsABlock = 8;
constexpr std::size_t kSettleAt = std::size_t{1} << 15;  // undecided pairs settled at once (point band)

struct Shared {
  const JoinInput& in;
  const Limits limits;
  Band band;
  std::uint64_t undecided_limit;  // when counting only: the count to stop at
  bool count_only;
  const RunContext& run;
  std::size_t part_rows, block_rows;
  double fine_scale;

  std::vector<EdgeBlock> blocks{};
  std::vector<std::vector<Undecided>> undecided{};  // one list a block
  std::atomic<std::uint64_t> limited_total{0};      // undecided pairs so far; or the count
  std::atomic<bool> overflow{false};
};

/// A worker: takes one block of rows after the other through all tiles. Its buffers live on.
class BlockScan {
 public:
  explicit BlockScan(Shared& shared)
      : s_(shared),
        unit_rows_(shared.in.coarse.x.unit_rows),
        columns_(shared.in.coarse.y.unit_rows),
        products_(shared.part_rows * kTileColumns),
        masks_(shared.part_rows * kTileColumns / columns_),
        pairs_(shared.part_rows * kTileColumns),
        fine_products_(shared.part_rows * kTileColumns),
        strip_(shared.block_rows * kStripTiles, std::uint64_t{0}) {}

  void run(std::size_t block) {
    block_ = block;
    first_ = block * s_.block_rows;
    rows_ = std::min(s_.block_rows, s_.in.fine.x.count - first_);
    settled_ = 0;
    undecided_.clear();
    found_.clear();
    strip_counts_.clear();
    const std::size_t tiles = (s_.in.fine.y.count + kTileColumns - 1) / kTileColumns;
    for (std::size_t tile = 0; tile < tiles; ++tile) {
      for (std::size_t part = 0; part < rows_; part += s_.part_rows) scan_part(part, tile);
      s_.run.check_stop();
      if ((tile + 1) % kStripTiles == 0 || tile + 1 == tiles) {
        flush_strip(tile / kStripTiles * kStripTiles * kTileColumns);
        if (s_.overflow.load(std::memory_order_relaxed)) return;
      }
    }
    finish();
  }

 private:
  /// Rows from `part` on, as many as fit L2, against one tile.
  void scan_part(std::size_t part, std::size_t tile) {
    const CoarsePrepared& coarse = s_.in.coarse;
    const std::size_t row = first_ + part, rows = std::min(s_.part_rows, rows_ - part);
    const std::size_t first_panel = tile * kTileColumns / columns_;
    const std::size_t last_panel = std::min(first_panel + kTileColumns / columns_, coarse.y.units);
    ScanArguments args{};
    args.x = coarse.x.unit(row / unit_rows_);
    args.groups = (rows + unit_rows_ - 1) / unit_rows_;
    args.group_bytes = coarse.x.unit_bytes;
    args.steps = coarse.layout.steps;
    args.widen = coarse.layout.widen;
    args.row_low = s_.limits.row_low.data() + row;
    for (std::size_t panel = first_panel; panel < last_panel; ++panel) {
      args.y = coarse.y.unit(panel);
      args.y_next = coarse.y.unit(std::min(panel + 1, coarse.y.units - 1));
      args.col_low = s_.limits.col_low.data() + panel * columns_;
      args.products = products_.data() + (panel - first_panel) * s_.part_rows * columns_;
      args.masks = masks_.data() + (panel - first_panel) * s_.part_rows;
      s_.in.kernel.scan(args);
    }
    const std::size_t unsure = sort_out(part, rows, tile, last_panel - first_panel);
    if (unsure != 0) look_again(part, tile, unsure);
  }

  /// Keeps the candidates that their int8 bound puts above the band and lists the others.
  std::size_t sort_out(std::size_t part, std::size_t rows, std::size_t tile, std::size_t panels) {
    const std::size_t first_column = tile * kTileColumns;
    const std::size_t columns = std::min(kTileColumns, s_.in.fine.y.count - first_column);
    const std::uint64_t valid =
        columns == kTileColumns ? ~std::uint64_t{0} : (std::uint64_t{1} << columns) - 1;
    const std::int32_t* row_high = s_.limits.row_high.data() + first_ + part;
    const std::int32_t* col_high = s_.limits.col_high.data() + first_column;
    FinePair* next = pairs_.data();
    for (std::size_t r = 0; r < rows; ++r) {
      std::uint64_t mask = 0;
      for (std::size_t panel = 0; panel < panels; ++panel)
        mask |= std::uint64_t{masks_[panel * s_.part_rows + r]} << (panel * columns_);
      std::uint64_t kept = 0;
      for (mask &= valid; mask != 0; mask &= mask - 1) {
        const auto c = static_cast<std::size_t>(std::countr_zero(mask));
        const std::int64_t product = products_[(c / columns_ * s_.part_rows + r) * columns_ + c % columns_];
        const bool sure = product > std::int64_t{row_high[r]} + col_high[c];
        kept |= std::uint64_t{sure} << c;
        *next = {static_cast<Vertex>(first_ + part + r), static_cast<Vertex>(first_column + c)};
        next += !sure;
      }
      strip_[(part + r) * kStripTiles + tile % kStripTiles] |= kept;
    }
    return static_cast<std::size_t>(next - pairs_.data());
  }

  void look_again(std::size_t part, std::size_t tile, std::size_t count) {
    const FinePrepared& fine = s_.in.fine;
    s_.in.kernel.fine({fine.x.values.data(), fine.y.values.data(), fine.x.stride, pairs_.data(), count,
                       fine_products_.data()});
    std::uint64_t* words = strip_.data() + part * kStripTiles + tile % kStripTiles;
    const double* offset = fine.y.offset.data() + tile * kTileColumns;
    const double* width = s_.limits.col_fine.data() + tile * kTileColumns;
    for (std::size_t p = 0; p < count; ++p) {
      const auto [i, j] = pairs_[p];
      const std::size_t c = j % kTileColumns;
      const double value =
          s_.fine_scale * static_cast<double>(fine_products_[p]) + fine.x.offset[i] + offset[c];
      const double bound = s_.limits.row_fine[i] + width[c];
      const bool sure = value - bound > s_.band.high;
      words[(i - first_ - part) * kStripTiles] |= std::uint64_t{sure} << c;
      if (!sure && value + bound > s_.band.low) undecided_.push_back({i, j, value});
    }
  }

  void flush_strip(std::size_t first_column) {
    if (s_.count_only) return count_strip();
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

  void count_strip() {
    settle();
    std::uint64_t count = undecided_.size();
    undecided_.clear();
    settled_ = 0;
    for (std::uint64_t& word : strip_) {
      count += static_cast<std::uint64_t>(std::popcount(word));
      word = 0;
    }
    add_to_limited(count);
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
    std::sort(begin, undecided_.end(), [](const Undecided& a, const Undecided& b) {
      return a.row != b.row ? a.row < b.row : a.col < b.col;
    });
    std::vector<FinePair> pairs;
    for (auto it = begin; it != undecided_.end(); ++it) pairs.push_back({it->row, it->col});
    std::vector<double> values(pairs.size());
    Definition(s_.in.x, s_.in.y, s_.in.classes).evaluate(pairs, values);
    undecided_.resize(settled_);
    for (std::size_t p = 0; p < pairs.size(); ++p)
      if (values[p] > s_.band.high) undecided_.push_back({pairs[p].row, pairs[p].col, values[p]});
    settled_ = undecided_.size();
  }

  /// Row lists out of the strips' pieces.
  void finish() {
    if (s_.count_only) return;
    if (s_.band.is_point()) settle();
    std::sort(undecided_.begin(), undecided_.end(), [](const Undecided& a, const Undecided& b) {
      return a.row != b.row ? a.row < b.row : a.col < b.col;
    });
    EdgeBlock& block = s_.blocks[block_];
    block.first_row = first_;
    block.counts.assign(rows_, 0);
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
    s_.undecided[block_].assign(undecided_.begin(), undecided_.end());
  }

  Shared& s_;
  std::size_t unit_rows_, columns_;
  std::size_t block_ = 0, first_ = 0, rows_ = 0;
  Array<std::int32_t> products_;
  Array<std::uint32_t> masks_;
  Array<FinePair> pairs_;
  Array<std::int64_t> fine_products_;
  Array<std::uint64_t> strip_;
  std::vector<Vertex> found_;
  std::vector<std::uint16_t> strip_counts_;
  std::vector<Undecided> undecided_;
  std::size_t settled_ = 0;  // undecided pairs that are settled (point band) or counted
};

/// Rows of a part: int8 and int16 rows take most of L2.
std::size_t choose_part_rows(const JoinInput& in) {
  const std::size_t unit = in.coarse.x.unit_rows;
  const std::size_t row_bytes = in.coarse.x.unit_bytes / unit + in.fine.x.stride * 2;
  const std::size_t rows = std::clamp<std::size_t>(level2_cache_bytes() / 10 * 7 / row_bytes, 48, 2048);
  return (rows + unit - 1) / unit * unit;
}

/// Rows of a block: many parts, so that a tile is fetched seldom, yet several blocks for each thread.
std::size_t choose_block_rows(const JoinInput& in, std::size_t part_rows, const RunContext& run) {
  const std::size_t by_balance = in.fine.x.count / (4 * std::max(run.threads, 1u)) + 1;
  const std::size_t parts = (std::min(kPartsABlock * part_rows, by_balance) + part_rows - 1) / part_rows;
  return parts * part_rows;
}

/// A kernel's set-up of the thread, undone in any case.
class KernelOnThread {
 public:
  explicit KernelOnThread(const Kernel& kernel) : kernel_(kernel) {
    if (kernel_.begin != nullptr) kernel_.begin();
  }
  ~KernelOnThread() {
    if (kernel_.end != nullptr) kernel_.end();
  }
  KernelOnThread(const KernelOnThread&) = delete;
  KernelOnThread& operator=(const KernelOnThread&) = delete;

 private:
  const Kernel& kernel_;
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

Shared make_shared_state(const JoinInput& input, Band band, std::uint64_t limit, bool count_only,
                         const RunContext& run) {
  const std::size_t part_rows = choose_part_rows(input);
  return {input,
          separate_limits(input.fine, input.coarse, band, run),
          band,
          limit,
          count_only,
          run,
          part_rows,
          choose_block_rows(input, part_rows, run),
          input.fine.x.scale * input.fine.y.scale};
}

}  // namespace

std::uint64_t count_above(const JoinInput& input, double t, std::uint64_t stop_at, const RunContext& run) {
  Shared shared = make_shared_state(input, {t, t}, stop_at, true, run);
  scan_all(shared);
  return shared.limited_total;
}

JoinResult join_rows(const JoinInput& input, Band band, std::uint64_t undecided_limit,
                     const RunContext& run) {
  Shared shared = make_shared_state(input, band, undecided_limit, false, run);
  scan_all(shared);

  JoinResult result;
  result.overflow = shared.overflow;
  std::size_t undecided = 0;
  for (const auto& list : shared.undecided) undecided += list.size();
  result.undecided.reserve(undecided);
  for (auto& list : shared.undecided) {
    result.undecided.insert(result.undecided.end(), list.begin(), list.end());
    std::vector<Undecided>().swap(list);
  }
  for (const EdgeBlock& block : shared.blocks) result.kept += block.columns.size();
  result.blocks = std::move(shared.blocks);
  return result;
}

}  // namespace gcbs
