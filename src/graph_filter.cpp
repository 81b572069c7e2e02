#include "graph_filter.h"

#include <cmath>
#include <limits>
#include <string>

#include "gcbs/error.h"
#include "similarity/tile_scan.h"

namespace gcbs {
namespace {

/// The R-th best admissible column of every row.
Array<RankCut> find_cuts(const PairJudge& judge, const FilterOptions& options, const Rows& x, const Rows& y,
                         const Kernel& kernel, const RunContext& run, const StageMark& begin_stage) {
  if (options.skip_top == 0) return {};
  MiningOptions mining;
  mining.top = 1;
  mining.skip_top = options.skip_top - 1;
  begin_stage("prepare");
  const QuickJudge quick(judge, nullptr, x, y, kernel, run);
  const Exclusions exclusions(x.count(), judge.groups());
  const NotSuspect filter(quick, !judge.is_guided());
  const TopRows last = find_top_rows(x, y, exclusions, mining, kernel, run, begin_stage,
                                     judge.has_margins() ? &filter : nullptr);
  Array<RankCut> cuts(x.count(), run.meter);
  for (std::size_t i = 0; i < cuts.size(); ++i)
    cuts[i] = last.columns[i] >= 0 ? RankCut{last.scores[i], static_cast<Vertex>(last.columns[i])}
                                   : RankCut{-std::numeric_limits<double>::infinity(), 0};
  return cuts;
}

}  // namespace

std::uint64_t count_wanted_edges(const SimilarityOptions& options, std::size_t batch_size, std::size_t rows) {
  const auto n = static_cast<double>(rows);
  const double wanted = options.quantile ? (1 - *options.quantile) * n * n
                                         : options.neighbours.value_or(static_cast<double>(batch_size)) * n;
  return static_cast<std::uint64_t>(std::llround(wanted));
}

GraphFilter::GraphFilter(const FilterOptions& options, std::uint64_t wanted_edges, const Rows& x,
                         const Rows& y, const Kernel& kernel, const RunContext& run,
                         const StageMark& begin_stage)
    : judge_(options, x, y, run),
      cuts_(find_cuts(judge_, options, x, y, kernel, run, begin_stage)),
      edges_{judge_, {cuts_.data(), cuts_.size()}, wanted_edges} {}

void check_graph_filter(const FilterOptions& filter, const SimilarityOptions& similarity, std::size_t rows) {
  check_filter(filter);
  if (filter.is_on() && (similarity.threshold == ThresholdMode::paper || similarity.keep_diagonal))
    throw Error(ErrorKind::usage, "the paper's threshold knows no filter",
                "its listing keeps every pair above the threshold, the diagonal too",
                "use the exact or the estimated threshold, or leave the filter out");
  if (filter.skip_top > 0 && filter.skip_top + 1 >= rows)
    throw Error(ErrorKind::input,
                "skipping the " + std::to_string(filter.skip_top) + " most similar columns leaves none",
                "a row has " + std::to_string(rows - 1) + " negatives", "skip fewer");
  const Groups groups(filter.groups, rows);  // says what is wrong with the ids
}

double filter_bytes(const FilterOptions& options, std::size_t rows, std::size_t cols, unsigned threads) {
  if (!options.is_on()) return 0;
  const auto n = static_cast<double>(rows);
  double bytes = (150 + 24 * static_cast<double>(options.groups.size())) * n;
  if (options.is_guided()) bytes += 2 * operand_bytes(rows, options.guide_x->cols) * 0.7;
  if (options.skip_top > 0)
    bytes += contender_bytes(rows, options.skip_top, threads) + 2 * operand_bytes(rows, cols);
  return bytes;
}

}  // namespace gcbs
