// The main job: rows -> threshold and edges -> graph -> order, timed and accounted for.
//
// Everything that can be refused is refused before work starts: sizes, options, memory.
#include "gcbs/pipeline.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/memory.h"
#include "base/run.h"
#include "base/run_frame.h"
#include "gcbs/error.h"
#include "graph/graph.h"
#include "matrix/rows.h"
#include "ordering/order_graph.h"
#include "similarity/find_edges.h"
#include "similarity/tile_scan.h"

namespace gcbs {
namespace {

void check_shapes(const MatrixView& x, const MatrixView& y, std::size_t batch_size) {
  if (batch_size < 2)
    throw Error(ErrorKind::usage, "a batch of " + std::to_string(batch_size) + " has no negatives",
                "every sample is contrasted with the others of its batch", "use a batch size of 2 or more");
  const auto shape = [](const MatrixView& m) {
    return m.name + " is " + std::to_string(m.rows) + " x " + std::to_string(m.cols);
  };
  if (x.rows != y.rows || x.cols != y.cols)
    throw Error(ErrorKind::input, "the two matrices differ in shape", shape(x) + ", " + shape(y),
                "row i of both must be the two sides of pair i");
  if (x.rows < 2 || x.cols < 1)
    throw Error(ErrorKind::input, "too little data", shape(x), "at least 2 rows and 1 column are needed");
  if (x.rows > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorKind::unsupported, "too many rows", shape(x), "at most 2^31 - 1 can be ordered");
  if (batch_size > x.rows)
    throw Error(ErrorKind::input, "a batch of " + std::to_string(batch_size) + " is larger than the data",
                shape(x), "use a batch size of at most " + std::to_string(x.rows));
}

double resolve_quantile(const SimilarityOptions& options, std::size_t batch_size, std::size_t rows) {
  if (options.quantile) {
    if (!(*options.quantile >= 0 && *options.quantile < 1))
      throw Error(ErrorKind::usage, "quantile " + std::to_string(*options.quantile) + " is out of range",
                  "it is the share of values to drop", "use a value of at least 0 and below 1");
    return *options.quantile;
  }
  const double neighbours = options.neighbours.value_or(static_cast<double>(batch_size));
  if (!(neighbours > 0))
    throw Error(ErrorKind::usage, std::to_string(neighbours) + " neighbours a row make no graph", {},
                "use a number above 0");
  const double quantile = 1 - neighbours / static_cast<double>(rows);
  if (quantile < 0)
    throw Error(ErrorKind::input,
                std::to_string(neighbours) + " neighbours a row are more than there are rows",
                std::to_string(rows) + " rows", "use at most " + std::to_string(rows));
  return quantile;
}

/// What contract C6 allows: int8 and int16 operands, 8 bytes an edge, a little for every row.
double expected_bytes(std::size_t rows, std::size_t cols, double quantile) {
  const auto n = static_cast<double>(rows);
  const double operands = 2 * operand_bytes(rows, cols);
  const double edges = (1 - quantile) * n * n;
  return std::max(operands + 4.5 * edges, 8.0 * edges) + 200 * n + 32e6;
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
    if (needs_graph(ordering.method)) {
      check_memory(expected_bytes(x.rows, x.cols, result.quantile), options.memory_limit,
                   "raise the memory limit, keep fewer neighbours, or order fewer rows at a time");
      progress.begin("normalise");
      const Rows rows_x(x, options.similarity.normalised, run), rows_y(y, options.similarity.normalised, run);
      SimilarityOptions similarity = options.similarity;
      similarity.seed = options.seed;
      FoundEdges found = find_edges(rows_x, rows_y, result.quantile, similarity, kernel_for(result.isa), run,
                                    [&](std::string_view name) { progress.begin(name); });
      result.threshold = found.threshold;
      result.edge_count = found.edges.count();
      progress.begin("graph");
      graph = build_graph(std::move(found.edges), run);
    } else {
      graph = empty_graph(x.rows);
    }
    progress.begin("order");
    result.order = order_graph(graph, ordering, run);
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
