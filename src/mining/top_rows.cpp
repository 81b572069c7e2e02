// The L best columns of every row, exactly as the definition ranks them.
//
// Requires: checked options. Ensures: the same result for every kernel, cut into blocks and thread count,
// since only the definition ranks. Cost: the scan of all pairs in int8; an int16 product for each pair
// that could be among its row's best so far, about L log(N / L) a row and what the int8 bounds add; the
// definition for the best ones and those too close to call. Memory: operands, results, and for each
// worker the contenders of one block.
//
// Each row has a limit that rises as its best columns are found (best_columns.h), and an int8 limit made
// from it. Columns come in ascending order, so a later one that ties has lost: `s <= limit` drops it.
// Equal columns have equal s: only one of them is evaluated, so that thousands of copies of a row cost
// little more than their int16 products.
#include "mining/top_rows.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <vector>

#include "matrix/equal_rows.h"
#include "mining/best_columns.h"
#include "mining/score_window.h"
#include "similarity/definition.h"
#include "similarity/tile_scan.h"

namespace gcbs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kMostSlices = 8;
constexpr std::size_t kBlockBytes = 16 << 20;  // contenders of a worker; more where a group of rows needs it
constexpr std::size_t kMostGroupRows = 16;
constexpr std::size_t kEvaluateAtOnce = 1024;  // between two looks at the observer

struct Cut {
  std::size_t slice_rows, block_rows;
};

struct Shared {
  const Rows& x;
  const Rows& y;
  const FinePrepared& fine;
  const CoarsePrepared& coarse;
  const Kernel& kernel;
  const Exclusions& exclusions;
  const ScoreWindow& window;
  const PairFilter* filter;
  const std::vector<std::uint32_t>& first_equal;  // of columns
  const LimitMaker& make_limit;
  const RunContext& run;
  FineBound bound;
  std::size_t wanted, skip, top;
  Cut cut;

  Limits limits;  // a row's are changed by the worker that has its block
  TopRows result;

  double ceiling(std::size_t row) const noexcept {
    return window.ceiling.empty() ? kInfinity : window.ceiling[row];
  }
};

/// A worker: takes one block of rows after the other through all tiles. Its buffers live on.
class BlockMiner {
 public:
  explicit BlockMiner(Shared& shared)
      : s_(shared),
        scan_(shared.coarse, shared.kernel, {&shared.limits, 1}, shared.fine.y.count, shared.cut.slice_rows),
        definition_(shared.x, shared.y),
        best_(std::min(shared.cut.block_rows, shared.fine.x.count), shared.wanted, shared.window.floor,
              shared.run.meter),
        pairs_(shared.cut.slice_rows * kTileColumns),
        products_(shared.cut.slice_rows * kTileColumns) {}

  void run(std::size_t block) {
    first_ = block * s_.cut.block_rows;
    rows_ = std::min(s_.cut.block_rows, s_.fine.x.count - first_);
    best_.clear();
    const std::size_t tiles = count_tiles(s_.fine.y.count);
    for (std::size_t tile = 0; tile < tiles; ++tile)
      for (std::size_t slice = 0; slice < rows_; slice += s_.cut.slice_rows) {
        scan_slice(slice, tile);
        s_.run.check_stop();
      }
    for (std::size_t r = 0; r < rows_; ++r) finish(r);
  }

 private:
  void scan_slice(std::size_t slice, std::size_t tile) {
    const std::size_t rows = std::min(s_.cut.slice_rows, rows_ - slice);
    const std::size_t count = list_candidates(slice, rows, tile, scan_.run(first_ + slice, rows, tile));
    if (count == 0) return;
    const FineOperand &x = s_.fine.x, &y = s_.fine.y;
    s_.kernel.fine({x.values.data(), y.values.data(), x.stride, pairs_.data(), count, products_.data()});
    const double scale = x.scale * y.scale;
    for (std::size_t p = 0; p < count; ++p) {
      const auto [i, j] = pairs_[p];
      const double value = scale * static_cast<double>(products_[p]) + x.offset[i] + y.offset[j];
      const double bound = s_.bound.row[i] + s_.bound.col[j];
      consider(i - first_, {value - bound, value + bound, j});
    }
  }

  /// The pairs that may be negatives (not surely above the ceiling) and are worth an int16 product, by row,
  /// then column.
  std::size_t list_candidates(std::size_t slice, std::size_t rows, std::size_t tile, TileHits found) {
    const std::size_t first_row = first_ + slice, first_column = tile * kTileColumns;
    FinePair* next = pairs_.data();
    for (std::size_t r = 0; r < rows; ++r)
      for (std::uint64_t mask = found.candidates(r) & ~found.sure(r); mask != 0; mask &= mask - 1) {
        const auto c = static_cast<std::size_t>(std::countr_zero(mask));
        if (s_.exclusions.excludes(first_row + r, first_column + c)) continue;
        *next++ = {static_cast<Vertex>(first_row + r), static_cast<Vertex>(first_column + c)};
      }
    return static_cast<std::size_t>(next - pairs_.data());
  }

  void consider(std::size_t r, const Contender& contender) {
    if (contender.high <= best_.limit(r) || contender.low > s_.ceiling(first_ + r)) return;
    if (s_.filter != nullptr &&
        !s_.filter->admits(static_cast<Vertex>(first_ + r), contender.column, contender.low, contender.high))
      return;
    if (!best_.add(r, contender)) return;
    if (!best_.thin(r, s_.ceiling(first_ + r))) rank(r);
    s_.limits.row_low[first_ + r] = s_.make_limit.row_low(first_ + r, best_.limit(r));
  }

  void rank(std::size_t r) {
    evaluate(r);
    best_.rank(r, s_.ceiling(first_ + r));
  }

  /// Makes the row's contenders exact. Equal columns stand together then, a known one first.
  void evaluate(std::size_t r) {
    const std::span<Contender> all = best_.row(r);
    const auto& class_of = s_.first_equal;
    std::sort(all.begin(), all.end(), [&](const Contender& a, const Contender& b) {
      const std::uint32_t class_a = class_of[a.column], class_b = class_of[b.column];
      return class_a != class_b ? class_a < class_b : a.is_exact() && !b.is_exact();
    });
    const auto leads = [&](std::size_t c) {
      return c == 0 || class_of[all[c].column] != class_of[all[c - 1].column];
    };
    asked_.clear();
    for (std::size_t c = 0; c < all.size(); ++c)
      if (leads(c) && !all[c].is_exact()) asked_.push_back({static_cast<Vertex>(first_ + r), all[c].column});
    ask();
    auto answer = answers_.begin();
    for (std::size_t c = 0; c < all.size(); ++c)
      if (!all[c].is_exact()) all[c].low = all[c].high = leads(c) ? *answer++ : all[c - 1].low;
  }

  void ask() {
    answers_.resize(asked_.size());
    const std::span<const FinePair> asked(asked_);
    const std::span<double> answers(answers_);
    for (std::size_t a = 0; a < asked.size(); a += kEvaluateAtOnce) {
      const std::size_t count = std::min(kEvaluateAtOnce, asked.size() - a);
      definition_.evaluate(asked.subspan(a, count), answers.subspan(a, count));
      s_.run.check_stop();
    }
  }

  void finish(std::size_t r) {
    static_cast<void>(best_.thin(r, s_.ceiling(first_ + r)));  // fewer to evaluate
    rank(r);
    const std::span<const Contender> ranked = best_.row(r);
    std::int64_t* columns = s_.result.columns.data() + (first_ + r) * s_.top;
    double* scores = s_.result.scores.data() + (first_ + r) * s_.top;
    for (std::size_t k = 0; k < s_.top; ++k) {
      const bool is_there = k < ranked.size() && s_.skip < ranked.size() - k;
      columns[k] = is_there ? std::int64_t{ranked[s_.skip + k].column} : -1;
      scores[k] = is_there ? ranked[s_.skip + k].low : std::numeric_limits<double>::quiet_NaN();
    }
  }

  Shared& s_;
  TileScan scan_;
  Definition definition_;
  BestColumns best_;
  std::size_t first_ = 0, rows_ = 0;
  Array<FinePair> pairs_;
  Array<std::int64_t> products_;
  std::vector<FinePair> asked_;
  std::vector<double> answers_;
};

/// Slices and blocks as the scan likes them, smaller where their contenders would take too much.
Cut choose_cut(const FinePrepared& fine, const CoarsePrepared& coarse, std::size_t wanted,
               const RunContext& run) {
  const std::size_t unit = coarse.parts[0].x.unit_rows;
  const std::size_t fitting = kBlockBytes / BestColumns::bytes_a_row(wanted);
  const std::size_t slice_rows = std::clamp(fitting / unit * unit, unit, choose_slice_rows(fine, coarse));
  const std::size_t slices = std::clamp<std::size_t>(fitting / slice_rows, 1, kMostSlices);
  return {slice_rows, choose_block_rows(fine.x.count, slice_rows, slices, run)};
}

/// Before any column is known: the window alone.
Limits first_limits(const FinePrepared& fine, const CoarsePrepared& coarse, const ScoreWindow& window,
                    const LimitMaker& make_limit, const RunContext& run) {
  Limits limits = separate_limits(fine, coarse.parts[0], coarse.defect, {window.floor, kInfinity}, run);
  for (std::size_t i = 0; i < window.ceiling.size(); ++i)
    limits.row_high[i] = make_limit.row_high(i, window.ceiling[i]);
  return limits;
}

void mine_blocks(Shared& shared) {
  const std::size_t blocks = (shared.fine.x.count + shared.cut.block_rows - 1) / shared.cut.block_rows;
  std::vector<std::unique_ptr<BlockMiner>> workers(std::max(shared.run.threads, 1u));
  parallel_for(
      shared.run, blocks, 1,
      [&](std::size_t block, std::size_t, unsigned worker) {
        if (!workers[worker]) workers[worker] = std::make_unique<BlockMiner>(shared);
        const KernelOnThread ready(shared.kernel);
        workers[worker]->run(block);
      },
      Report::progress);
}

}  // namespace

std::size_t count_wanted(const MiningOptions& options, std::size_t columns) noexcept {
  return std::min(columns, std::min(columns, options.top) + std::min(columns, options.skip_top));
}

double contender_bytes(std::size_t rows, std::size_t wanted, unsigned threads) noexcept {
  const auto a_row = static_cast<double>(BestColumns::bytes_a_row(wanted));
  const double a_worker = std::max<double>(kBlockBytes, kMostGroupRows * a_row);
  return std::min(a_worker * threads, a_row * static_cast<double>(rows) + a_worker);
}

TopRows find_top_rows(const Rows& x, const Rows& y, const Exclusions& exclusions,
                      const MiningOptions& options, const Kernel& kernel, const RunContext& run,
                      const StageMark& begin_stage, const PairFilter* filter) {
  begin_stage("prepare");
  ScoreWindow window = find_score_window(x, y, exclusions, options, run);
  if (filter != nullptr) window.lower_ceiling(filter->ceiling(), run);
  const std::vector<std::uint32_t> first_equal = first_equal_rows(y.matrix(), run);
  const FinePrepared fine = prepare_fine(x, y, {}, {}, run);
  const CoarsePrepared coarse = prepare_coarse(fine, nullptr, kernel, run);
  const LimitMaker make_limit(fine, coarse.parts[0], coarse.defect);
  const std::size_t wanted = count_wanted(options, y.count()), places = x.count() * options.top;
  Shared shared{.x = x,
                .y = y,
                .fine = fine,
                .coarse = coarse,
                .kernel = kernel,
                .exclusions = exclusions,
                .window = window,
                .filter = filter,
                .first_equal = first_equal,
                .make_limit = make_limit,
                .run = run,
                .bound = separate_fine(fine, run),
                .wanted = wanted,
                .skip = options.skip_top,
                .top = options.top,
                .cut = choose_cut(fine, coarse, wanted, run),
                .limits = first_limits(fine, coarse, window, make_limit, run),
                .result = {Array<std::int64_t>(places, run.meter), Array<double>(places, run.meter)}};

  begin_stage("join");
  mine_blocks(shared);
  return std::move(shared.result);
}

}  // namespace gcbs
