// The main job: rows -> threshold and edges -> graph -> order, timed and accounted for.
//
// Everything that can be refused is refused before work starts: sizes, options, memory.
#include "gcbs/pipeline.h"

#include <algorithm>

#include "base/memory.h"
#include "base/run.h"
#include "base/run_frame.h"
#include "batch_maker.h"
#include "checks.h"
#include "graph/graph.h"
#include "matrix/rows.h"
#include "ordering/order_graph.h"
#include "similarity/find_edges.h"
#include "verdict.h"

namespace gcbs {
namespace {

/// Up to the graph, then from graph to batches.
double expected_bytes(const MatrixView& x, const PipelineOptions& options, double quantile) {
  const auto n = static_cast<double>(x.rows);
  const double edges = (1 - quantile) * n * n;
  return std::max(expected_graph_bytes(x.rows, x.cols, quantile),
                  8 * edges + 200 * n + 32e6 + batch_maker_bytes(options.batches, x.rows, x.cols, edges, 0));
}

bool changes_batches(const BatchOptions& options) {
  return options.block != 0 || options.random_share > 0 || options.epoch;
}

}  // namespace

OrderResult order_pairs(const MatrixView& x, const MatrixView& y, const PipelineOptions& options,
                        Observer* observer) {
  check_shapes(x, y, options.batch_size);
  check_batch_options(options.batches, options.batch_size);
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
    // Extra columns are weighed by edges, whatever the order reads.
    const bool reads_graph = needs_graph(ordering.method) || options.batches.extra > 0;
    if (reads_graph) {
      check_memory(expected_bytes(x, options, result.quantile), options.memory_limit,
                   "raise the memory limit, keep fewer neighbours, or order fewer rows at a time");
      progress.begin("normalise");
      rows_x.emplace(x, options.similarity.normalised, run);
      rows_y.emplace(y, options.similarity.normalised, run);
      SimilarityOptions similarity = options.similarity;
      similarity.seed = options.seed;
      FoundEdges found = find_edges(*rows_x, *rows_y, result.quantile, similarity, kernel_for(result.isa),
                                    run, [&](std::string_view name) { progress.begin(name); });
      result.threshold = found.threshold;
      result.edge_count = found.edges.count();
      progress.begin("graph");
      graph = build_graph(std::move(found.edges), run);
    } else {
      graph = empty_graph(x.rows);
    }
    progress.begin("order");
    result.order = order_graph(graph, ordering, run);
    if (changes_batches(options.batches)) progress.begin("batches");
    BatchMaker maker(options.batches, options.batch_size, options.seed, nullptr, {},
                     reads_graph ? &graph : nullptr, run);
    MadeBatches made = maker.make(std::move(result.order.old_of_new));
    result.order.old_of_new = std::move(made.order);
    result.batches = made.report;
    if (options.batches.extra > 0) {
      progress.begin("extra");
      result.extra = maker.extras(result.order.old_of_new, *rows_x, *rows_y);
    }
    if (options.verdict && needs_graph(ordering.method)) {
      progress.begin("verdict");
      result.verdict = judge_order(*rows_x, *rows_y, graph, result.order.old_of_new, options.batch_size,
                                   *options.verdict, options.seed, run);
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
