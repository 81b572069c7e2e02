// The main job: rows -> threshold and edges -> graph -> order, timed and accounted for.
//
// Everything that can be refused is refused before work starts: sizes, options, memory.
#include "gcbs/pipeline.h"

#include "base/memory.h"
#include "base/run.h"
#include "base/run_frame.h"
#include "checks.h"
#include "graph/graph.h"
#include "graph_filter.h"
#include "matrix/rows.h"
#include "ordering/order_graph.h"
#include "similarity/find_edges.h"
#include "verdict.h"

namespace gcbs {

OrderResult order_pairs(const MatrixView& x, const MatrixView& y, const PipelineOptions& options,
                        Observer* observer) {
  check_shapes(x, y, options.batch_size);
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
    if (needs_graph(ordering.method)) {
      check_memory(expected_graph_bytes(x.rows, x.cols, result.quantile) +
                       filter_bytes(options.filter, x.rows, x.cols, result.threads),
                   options.memory_limit,
                   "raise the memory limit, keep fewer neighbours, or order fewer rows at a time");
      const StageMark mark = [&](std::string_view name) { progress.begin(name); };
      progress.begin("normalise");
      rows_x.emplace(x, options.similarity.normalised, run);
      rows_y.emplace(y, options.similarity.normalised, run);
      SimilarityOptions similarity = options.similarity;
      similarity.seed = options.seed;
      const Kernel& kernel = kernel_for(result.isa);
      if (options.filter.is_on())
        filter.emplace(options.filter, count_wanted_edges(similarity, options.batch_size, x.rows), *rows_x,
                       *rows_y, kernel, run, mark);
      FoundEdges found = find_edges(*rows_x, *rows_y, result.quantile, similarity, kernel, run, mark,
                                    filter ? &filter->edges() : nullptr);
      result.threshold = found.threshold;
      result.edge_count = found.edges.count();
      for (std::size_t i = 0; i < x.rows; ++i) result.rows_without_edges += found.edges.row(i).empty();
      progress.begin("graph");
      graph = build_graph(std::move(found.edges), run);
    } else {
      graph = empty_graph(x.rows);
    }
    progress.begin("order");
    result.order = order_graph(graph, ordering, run);
    if (options.verdict && needs_graph(ordering.method)) {
      progress.begin("verdict");
      result.verdict = judge_order(*rows_x, *rows_y, graph, result.order.old_of_new, options.batch_size,
                                   *options.verdict, options.seed, run, filter ? &filter->judge() : nullptr);
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
