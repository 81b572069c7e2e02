// The one loop nest, for every instruction set.
//
// Requires: operands packed for the kernel. Ensures: every pair with s > band.high is in a block or
// among the undecided, no pair with s <= band.low is in a block; the same sets for every thread count.
// Cost: 2 N^2 depth int8 operations, one int16 product for each pair that int8 cannot decide.
//
// A worker takes a block of X rows that fits L2 (int8 and int16 together) and walks all panels of Y.
// A kernel call yields the products of the block with one panel and a mask of candidates. Each
// candidate is surely above the band by its int8 bound, or is looked at again by an int16 product;
// what even that leaves open is undecided. Kept pairs are bits in a strip of kStripColumns columns;
// a full strip is turned into column lists, so that rows come out sorted without a sort.
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

constexpr std::size_t kStripColumns = 1024;
constexpr std::size_t kStripWords = kStripColumns / 64;
constexpr std::size_t kSettleAt = std::size_t{1} << 15;  // undecided pairs settled at once (point band)

struct Shared {
  const JoinInput& in;
  const Limits limits;
  Band band;
  std::uint64_t undecided_limit;  // when counting only: the count to stop at
  bool count_only;
  const RunContext& run;
  std::size_t block_rows;
  double fine_scale;

  std::vector<EdgeBlock> blocks{};
  std::vector<std::vector<Undecided>> undecided{};  // one list a block
  std::atomic<std::uint64_t> limited_total{0};  // undecided pairs so far; or the count
  std::atomic<bool> overflow{false};
};

/// A worker: takes one block of rows after the other through all panels. Its buffers live on.
class BlockScan {
 public:
  explicit BlockScan(Shared& shared)
      : s_(shared), unit_rows_(shared.in.coarse.x.unit_rows), columns_(shared.in.coarse.y.unit_rows),
        products_(shared.block_rows * columns_), masks_(shared.block_rows + 2),
        pairs_(shared.block_rows * columns_ + 2), fine_products_(shared.block_rows * columns_),
        strip_(shared.block_rows * kStripWords, std::uint64_t{0}) {}

  void run(std::size_t block) {
    block_ = block;
    first_ = block * s_.block_rows;
    rows_ = std::min(s_.block_rows, s_.in.fine.x.count - first_);
    settled_ = 0;
    undecided_.clear();
    found_.clear();
    strip_counts_.clear();
    const CoarseOperand& y = s_.in.coarse.y;
    const std::size_t panels_a_strip = kStripColumns / columns_;
    for (std::size_t panel = 0; panel < y.units; ++panel) {
      scan_panel(panel);
      if ((panel + 1) % panels_a_strip == 0 || panel + 1 == y.units) {
        flush_strip(panel / panels_a_strip * kStripColumns);
        s_.run.check_stop();
        if (s_.overflow.load(std::memory_order_relaxed)) return;
      }
    }
    finish();
  }

 private:
  void scan_panel(std::size_t panel) {
    const CoarsePrepared& coarse = s_.in.coarse;
    const std::size_t last = std::min(panel + 1, coarse.y.units - 1);
    ScanArguments args{};
    args.x = coarse.x.unit(first_ / unit_rows_);
    args.groups = (rows_ + unit_rows_ - 1) / unit_rows_;
    args.group_bytes = coarse.x.unit_bytes;
    args.y = coarse.y.unit(panel);
    args.y_next = coarse.y.unit(last);
    args.steps = coarse.layout.steps;
    args.widen = coarse.layout.widen;
    args.row_low = s_.limits.row_low.data() + first_;
    args.col_low = s_.limits.col_low.data() + panel * columns_;
    args.products = products_.data();
    args.masks = masks_.data();
    s_.in.kernel.scan(args);

    const std::size_t valid = std::min(columns_, s_.in.fine.y.count - panel * columns_);
    const std::uint32_t valid_mask = valid >= 32 ? ~0u : (1u << valid) - 1;
    const std::size_t candidates = list_candidates(panel * columns_, valid_mask);
    const std::size_t unsure = keep_sure(panel * columns_, candidates);
    if (unsure != 0) look_again(unsure);
  }

  /// Turns the masks into pairs. Most rows have none, one or two: those take no branch.
  std::size_t list_candidates(std::size_t first_column, std::uint32_t valid_mask) {
    FinePair* next = pairs_.data();
    masks_[rows_] = masks_[rows_ + 1] = 0;
    for (std::size_t pair = 0; pair < rows_; pair += 2) {
      std::uint64_t both;
      std::memcpy(&both, masks_.data() + pair, sizeof both);
      if (both == 0) continue;
      for (std::size_t r = pair; r < pair + 2; ++r) {
        const auto row = static_cast<Vertex>(first_ + r), column = static_cast<Vertex>(first_column);
        std::uint32_t mask = masks_[r] & valid_mask;
        next[0] = {row, column + static_cast<Vertex>(std::countr_zero(mask))};
        next += mask != 0;
        mask &= mask - 1;
        next[0] = {row, column + static_cast<Vertex>(std::countr_zero(mask))};
        next += mask != 0;
        for (mask &= mask - 1; mask != 0; mask &= mask - 1)
          *next++ = {row, column + static_cast<Vertex>(std::countr_zero(mask))};
      }
    }
    return static_cast<std::size_t>(next - pairs_.data());
  }

  /// Keeps the candidates that their int8 bound puts above the band; the others stay listed.
  std::size_t keep_sure(std::size_t first_column, std::size_t count) {
    const std::int32_t* row_high = s_.limits.row_high.data();
    const std::int32_t* col_high = s_.limits.col_high.data();
    std::size_t unsure = 0;
    for (std::size_t p = 0; p < count; ++p) {
      const auto [i, j] = pairs_[p];
      const std::int64_t product = products_[(i - first_) * columns_ + (j - first_column)];
      const bool sure = product > std::int64_t{row_high[i]} + col_high[j];
      keep(i - first_, j, sure);
      pairs_[unsure] = {i, j};
      unsure += !sure;
    }
    return unsure;
  }

  void look_again(std::size_t count) {
    const FinePrepared& fine = s_.in.fine;
    s_.in.kernel.fine({fine.x.values.data(), fine.y.values.data(), fine.x.stride, pairs_.data(), count,
                       fine_products_.data()});
    for (std::size_t p = 0; p < count; ++p) {
      const auto [i, j] = pairs_[p];
      const double value = s_.fine_scale * static_cast<double>(fine_products_[p]) + fine.x.offset[i] +
                           fine.y.offset[j];
      const double bound = s_.limits.row_fine[i] + s_.limits.col_fine[j];
      const bool sure = value - bound > s_.band.high;
      keep(i - first_, j, sure);
      if (!sure && value + bound > s_.band.low) undecided_.push_back({i, j, value});
    }
  }

  void keep(std::size_t row, std::size_t column, bool yes) {
    const std::size_t bit = column % kStripColumns;
    strip_[row * kStripWords + bit / 64] |= std::uint64_t{yes} << (bit % 64);
  }

  void flush_strip(std::size_t first_column) {
    if (s_.count_only) return count_strip();
    for (std::size_t r = 0; r < rows_; ++r) {
      std::uint64_t* words = strip_.data() + r * kStripWords;
      const std::size_t before = found_.size();
      for (std::size_t w = 0; w < kStripWords; ++w) {
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

/// Rows a block: int8 and int16 rows together fit L2, and every thread gets several blocks.
std::size_t choose_block_rows(const JoinInput& in, const RunContext& run) {
  const std::size_t unit = in.coarse.x.unit_rows;
  const std::size_t row_bytes = in.coarse.x.unit_bytes / unit + in.fine.x.stride * 2;
  const std::size_t by_cache = std::clamp<std::size_t>(level2_cache_bytes() / 10 * 8 / row_bytes, 48, 2048);
  const std::size_t by_balance = in.fine.x.count / (4 * std::max(run.threads, 1u)) + 1;
  return (std::min(by_cache, by_balance) + unit - 1) / unit * unit;
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
  return {input, separate_limits(input.fine, input.coarse, band, run), band, limit, count_only, run,
          choose_block_rows(input, run), input.fine.x.scale * input.fine.y.scale};
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

Edges assemble_edges(JoinResult&& join, const std::vector<FinePair>& more, std::size_t rows,
                     bool keep_diagonal, const RunContext& run) {
  Edges edges;
  edges.offsets = Array<EdgeIndex>(rows + 1, run.meter);
  // Count: a row's block entries and its further ones, less the diagonal.
  std::size_t m = 0;
  EdgeIndex total = 0;
  for (const EdgeBlock& block : join.blocks) {
    const Vertex* columns = block.columns.data();
    for (std::size_t r = 0; r < block.counts.size(); ++r) {
      const auto row = static_cast<Vertex>(block.first_row + r);
      edges.offsets[row] = total;
      EdgeIndex count = block.counts[r];
      if (!keep_diagonal && std::binary_search(columns, columns + block.counts[r], row)) --count;
      columns += block.counts[r];
      for (; m < more.size() && more[m].row == row; ++m) count += keep_diagonal || more[m].col != row;
      total += count;
    }
  }
  edges.offsets[rows] = total;
  edges.columns = Array<Vertex>(total, run.meter);
  m = 0;
  for (EdgeBlock& block : join.blocks) {
    const Vertex* columns = block.columns.data();
    for (std::size_t r = 0; r < block.counts.size(); ++r) {
      const auto row = static_cast<Vertex>(block.first_row + r);
      Vertex* out = edges.columns.data() + edges.offsets[row];
      const Vertex* end = columns + block.counts[r];
      for (; columns != end; ++columns) {
        for (; m < more.size() && more[m].row == row && more[m].col < *columns; ++m)
          if (keep_diagonal || more[m].col != row) *out++ = more[m].col;
        if (keep_diagonal || *columns != row) *out++ = *columns;
      }
      for (; m < more.size() && more[m].row == row; ++m)
        if (keep_diagonal || more[m].col != row) *out++ = more[m].col;
    }
    block.columns = {};
  }
  return edges;
}

}  // namespace gcbs
