// The main job in one call: two matrices in, an order out.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gcbs/cpu.h"
#include "gcbs/graph.h"
#include "gcbs/matrix.h"
#include "gcbs/observer.h"
#include "gcbs/ordering.h"
#include "gcbs/similarity.h"

namespace gcbs {

struct PipelineOptions {
  std::size_t batch_size = 0;  ///< k, at least 2; neighbours default to it
  SimilarityOptions similarity;
  OrderingOptions ordering;  ///< seed and threads come from the fields below
  std::uint64_t seed = 0;
  unsigned threads = 0;  ///< 0: usable_cores()
  std::optional<Isa> isa;
  /// Bytes the run may allocate; 0: 80 % of what is available. Refused up front when over.
  std::uint64_t memory_limit = 0;
  bool keep_edges = false;  ///< hand the edges back in the result
};

struct OrderResult {
  Order order;
  std::optional<Threshold> threshold;  ///< none for methods that read no graph
  EdgeIndex edge_count = 0;
  Edges edges;  ///< filled when keep_edges
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
