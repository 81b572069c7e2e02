// The main job: rows -> threshold and edges -> graph -> order, timed and accounted for.
//
// Everything that can be refused is refused before work starts: sizes, options, memory.
#include "gcbs/pipeline.h"

#include <algorithm>

#include "base/memory.h"
#include "base/run.h"
#include "base/run_frame.h"
#include "batch_maker.h"
#include "batches/feasible.h"
#include "checks.h"
#include "find_order.h"
#include "graph/graph.h"
#include "graph_filter.h"
#include "matrix/rows.h"
#include "similarity/edge_values.h"
#include "similarity/find_edges.h"
#include "similarity/tile_scan.h"
#include "verdict.h"

namespace gcbs {
namespace {

/// Up to the graph, then from graph to batches.
double expected_bytes(const MatrixView& x, const PipelineOptions& options, double quantile,
                      unsigned threads) {
  const auto n = static_cast<double>(x.rows);
  const double edges = (1 - quantile) * n * n;
  const bool kept = options.filter.has_margins() || options.batches.extra > 0;
  const double pack = options.ordering.method == Method::pack
                          ? expected_pack_bytes(x.rows, x.cols, edges,
                                                options.batches.rows_of_block(options.batch_size), threads)
                          : 0;
  const double batches =
      (kept ? 2 * fine_bytes(x.rows, x.cols) : 0) + 8 * edges +
      batch_maker_bytes(options.batches, x.rows, edges,
                        options.filter.groups.size() + (options.filter.duplicates ? 2 : 0));
  return std::max(expected_graph_bytes(x.rows, x.cols, quantile), std::max(pack, batches) + 200 * n + 32e6) +
         filter_bytes(options.filter, x.rows, x.cols, threads);
}

bool changes_batches(const BatchOptions& options) {
  return options.block != 0 || options.random_share > 0 || options.epoch;
}

}  // namespace

std::optional<double> default_relative_margin(Method method, ThresholdMode threshold) noexcept {
  if (!needs_graph(method) || threshold == ThresholdMode::paper) return {};
  return 0.0;
}

OrderResult order_pairs(const MatrixView& x, const MatrixView& y, const PipelineOptions& options,
                        Observer* observer) {
  check_shapes(x, y, options.batch_size);
  check_batch_options(options.batches, options.batch_size);
  if (!options.ordering.pack.from.empty()) checked_order(kStartName, options.ordering.pack.from, x.rows);
  check_graph_filter(options.filter, options.similarity, x.rows);
  const StandardArithmetic arithmetic;
  OrderResult result;
  result.isa = choose_isa(options.isa);
  result.threads = options.threads != 0 ? options.threads : usable_cores();
  result.quantile = resolve_quantile(options.similarity, options.batch_size, x.rows);
  OrderingOptions ordering = options.ordering;
  ordering.seed = options.seed;

  MemoryMeter meter;
  const RunContext run{result.threads, observer, &meter};
  Progress progress(observer);
  {
    Graph graph;
    std::optional<Rows> rows_x, rows_y;
    std::optional<GraphFilter> filter;
    std::optional<PairJudge> judge_alone;
    std::optional<FinePrepared> fine;
    const Kernel& kernel = kernel_for(result.isa);
    const bool packs = ordering.method == Method::pack;
    // Extra columns are weighed by edges, whatever the order reads.
    const bool reads_graph = needs_graph(ordering.method) || options.batches.extra > 0;
    if (reads_graph) {
      check_memory(expected_bytes(x, options, result.quantile, result.threads), options.memory_limit,
                   "raise the memory limit, keep fewer neighbours, or order fewer rows at a time");
      const StageMark mark = [&](std::string_view name) { progress.begin(name); };
      progress.begin("normalise");
      rows_x.emplace(x, options.similarity.normalised, run);
      rows_y.emplace(y, options.similarity.normalised, run);
      SimilarityOptions similarity = options.similarity;
      similarity.seed = options.seed;
      if (options.filter.is_on()) {
        filter.emplace(options.filter, count_wanted_edges(similarity, options.batch_size, x.rows), *rows_x,
                       *rows_y, kernel, run, mark);
        // Nobody wants to learn of it after the join.
        check_feasible(filter->judge().groups(), options.filter.groups, x.rows, options.batch_size);
      }
      const bool keeps =
          packs || options.batches.extra > 0 || (filter && QuickJudge::needs_fine(filter->judge()));
      FoundEdges found =
          find_edges(*rows_x, *rows_y, result.quantile, similarity, kernel, run, mark,
                     filter ? &filter->edges() : nullptr, keeps ? FineRows::keep : FineRows::drop);
      fine = std::move(found.fine);
      result.threshold = found.threshold;
      result.edge_count = found.edges.count();
      for (std::size_t i = 0; i < x.rows; ++i) result.rows_without_edges += found.edges.row(i).empty();
      progress.begin("graph");
      graph = build_graph(std::move(found.edges), run);
    } else {
      graph = empty_graph(x.rows);
      if (options.filter.is_on()) {
        progress.begin("normalise");
        rows_x.emplace(x, options.similarity.normalised, run);
        rows_y.emplace(y, options.similarity.normalised, run);
        judge_alone.emplace(options.filter, *rows_x, *rows_y, run);
      }
    }
    progress.begin("order");
    Array<float> similarities;
    if (packs) similarities = edge_values(*fine, *rows_x, *rows_y, graph.out, kernel, run);
    std::optional<QuickJudge> judge;
    if (filter || judge_alone)
      judge.emplace(filter ? filter->judge() : *judge_alone, fine ? &*fine : nullptr, *rows_x, *rows_y,
                    kernel, run);
    MadeOrder found = find_order(rows_x ? &*rows_x : nullptr, rows_y ? &*rows_y : nullptr, graph,
                                 std::move(similarities), ordering,
                                 {options.batch_size, options.batches.rows_of_block(options.batch_size),
                                  judge ? &*judge : nullptr, fine ? &*fine : nullptr},
                                 run);
    result.order = std::move(found.order);
    result.swaps = found.swaps;
    if (judge || changes_batches(options.batches)) progress.begin("batches");
    BatchMaker maker(options.batches, options.batch_size, options.seed, judge ? &*judge : nullptr,
                     options.filter.groups, reads_graph ? &graph : nullptr, run);
    MadeBatches made = maker.make(std::move(result.order.old_of_new));
    result.order.old_of_new = std::move(made.order);
    result.batches = made.report;
    if (options.batches.extra > 0) {
      progress.begin("extra");
      maker.weigh(*rows_x, *rows_y, edge_values(*fine, *rows_x, *rows_y, graph.out, kernel, run));
      result.extra = maker.extras(result.order.old_of_new);
    }
    if (options.verdict && needs_graph(ordering.method)) {
      progress.begin("verdict");
      result.verdict = judge_order(*rows_x, *rows_y, graph, result.order.old_of_new, options.batch_size,
                                   *options.verdict, options.seed, run, judge ? &judge->judge() : nullptr);
    }
    result.stages = progress.finish();
    result.peak_bytes = meter.peak_bytes();
    if (options.keep_edges) {
      result.edges = std::move(graph.out);
      result.edges.offsets.leave_meter();
      result.edges.columns.leave_meter();
    }
    result.extra.rows.leave_meter();
  }
  return result;
}

}  // namespace gcbs
