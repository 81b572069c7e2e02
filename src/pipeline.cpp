// The main job: rows -> threshold and edges -> graph -> order, timed and accounted for.
//
// Everything that can be refused is refused before work starts: sizes, options, memory.
#include "gcbs/pipeline.h"

#include <algorithm>

#include "base/memory.h"
#include "base/run.h"
#include "base/run_frame.h"
#include "checks.h"
#include "find_order.h"
#include "graph/graph.h"
#include "matrix/rows.h"
#include "similarity/find_edges.h"
#include "verdict.h"

namespace gcbs {

namespace {

/// The graph, then what packing holds beside its edges.
double expected_bytes(const MatrixView& x, Method method, double quantile, unsigned threads) {
  const double graph = expected_graph_bytes(x.rows, x.cols, quantile);
  if (method != Method::pack) return graph;
  const auto n = static_cast<double>(x.rows);
  return std::max(graph,
                  expected_pack_bytes(x.rows, x.cols, (1 - quantile) * n * n, threads) + 200 * n + 32e6);
}

}  // namespace

OrderResult order_pairs(const MatrixView& x, const MatrixView& y, const PipelineOptions& options,
                        Observer* observer) {
  check_shapes(x, y, options.batch_size);
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
    if (needs_graph(ordering.method)) {
      check_memory(expected_bytes(x, ordering.method, result.quantile, result.threads), options.memory_limit,
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
    result.order = find_order(rows_x ? &*rows_x : nullptr, rows_y ? &*rows_y : nullptr, graph, ordering,
                              {options.batch_size}, run);
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
  }
  return result;
}

}  // namespace gcbs
