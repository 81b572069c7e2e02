// The main job in one call: two matrices in, an order out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gcbs/batches.h"
#include "gcbs/cpu.h"
#include "gcbs/filter.h"
#include "gcbs/graph.h"
#include "gcbs/matrix.h"
#include "gcbs/observer.h"
#include "gcbs/ordering.h"
#include "gcbs/similarity.h"

namespace gcbs {

/// A cheap estimate of what the order is worth, in both directions of the loss.
struct VerdictOptions {
  double temperature = 0.05;
};

/// The relative margin where nobody asks for a margin: nothing more similar than its own positive is a
/// negative. None for methods that read no graph, and for the paper's threshold. docs/results.md says why.
std::optional<double> default_relative_margin(Method method, ThresholdMode threshold) noexcept;

struct PipelineOptions {
  std::size_t batch_size = 0;  ///< k, at least 2; neighbours default to it
  SimilarityOptions similarity;
  /// Which negatives may be edges; neighbours and quantile count admissible ones. As it is given: the
  /// default margin is for who asks people, the program and the package.
  FilterOptions filter;
  OrderingOptions ordering;  ///< seed and threads come from the fields below
  BatchOptions batches;      ///< how the order becomes batches
  std::uint64_t seed = 0;
  unsigned threads = 0;  ///< 0: usable_cores()
  std::optional<Isa> isa;
  /// Bytes the run may allocate; 0: 80 % of what is available. Refused up front when over.
  std::uint64_t memory_limit = 0;
  bool keep_edges = false;                ///< hand the edges back in the result
  std::optional<VerdictOptions> verdict;  ///< judge the order, where a graph was made
};

struct Verdict {
  /// Share of the random orders' gap that this one closes, and its 95 % interval; 0 where there is no gap.
  double gap_closed = 0, low = 0, high = 0;
  double outranking = 0;    ///< share of kept edges more similar than their own positive
  double suspects = 0;      ///< share of all pairs that the margins leave out
  std::size_t anchors = 0;  ///< rows looked at, of either side
};

struct OrderResult {
  Order order;                         ///< consecutive batches of it are what the trainer sees
  std::optional<std::uint64_t> swaps;  ///< that pack made on its way; none for other methods
  BatchReport batches;
  ExtraColumns extra;                  ///< filled where some are wanted
  std::optional<Threshold> threshold;  ///< none for methods that read no graph
  EdgeIndex edge_count = 0;
  std::size_t rows_without_edges = 0;  ///< rows of X; where a graph was made
  Edges edges;                         ///< filled when keep_edges
  std::optional<Verdict> verdict;
  double quantile = 0;
  Isa isa = Isa::scalar;
  unsigned threads = 1;
  std::vector<Stage> stages;  ///< in order, never overlapping
  std::uint64_t peak_bytes = 0;
};

/// Orders the pairs (x_i, y_i). y may equal x. Throws Error; leaves nothing running.
OrderResult order_pairs(const MatrixView& x, const MatrixView& y, const PipelineOptions& options,
                        Observer* observer = nullptr);

}  // namespace gcbs
