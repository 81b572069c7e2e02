// How much of the global loss the batches of an order see: for given orders, for methods, against random.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gcbs/loss.h"
#include "gcbs/pipeline.h"

namespace gcbs {

/// An order from outside, "new position -> old row".
struct NamedOrder {
  std::string name;
  std::vector<std::int64_t> rows;
};

struct GapOptions {
  /// Batch size, graph, seed, threads, instruction set, memory limit; its method and filter are not read.
  /// Its batches are those of methods, the extra columns those of every order.
  PipelineOptions run;
  LossOptions loss;                ///< its filter is the graph's too
  std::vector<Method> methods;     ///< orders to compute
  std::vector<NamedOrder> orders;  ///< orders to evaluate, after the methods
};

/// What one order comes to. Of the direction asked for, where it does not say.
struct OrderGap {
  std::string name;
  ByDirection loss_train;
  double gap = 0;                    ///< L_global - L_train
  std::optional<double> gap_closed;  ///< share of the random order's gap that is gone; none where it has none
  EdgeIndex edges_in_batch = 0;      ///< kept edges whose ends share a batch
  std::optional<double> outranking;  ///< share of kept edges more similar than their own positive
  std::optional<double> outranking_in_batch;
  std::uint64_t bandwidth = 0;  ///< the longest way between the ends of a kept edge
  Bounds bounds;
  double qbap = 0;         ///< the smallest similarity in a batch
  double qap = 0;          ///< the sum of all similarities in batches, both ways
  double probability = 0;  ///< mean softmax probability of the positive, in the batch
  double seconds = 0;      ///< to find this order, the graph included where it is read
  std::uint64_t peak_bytes = 0;
  std::vector<BatchLoss> batches;
  std::optional<BatchReport> made;  ///< of methods: what became of the order on its way to batches
};

struct RandomGap {
  std::size_t trials = 0;
  double loss_mean = 0, loss_deviation = 0, probability = 0;
};

struct GapResult {
  ByDirection loss_global;
  double probability_global = 0;
  double error_bound = 0;  ///< of every loss here, against the float64 definition
  RandomGap random;
  double oracle_loss = 0;  ///< every row with its own hardest negatives: no order passes it
  std::optional<double> oracle_gap_closed;
  Threshold threshold;
  EdgeIndex edge_count = 0;
  double quantile = 0;
  std::vector<OrderGap> orders;
  Isa isa = Isa::scalar;
  unsigned threads = 1;
  std::vector<Stage> stages;  ///< in order, never overlapping
  std::uint64_t peak_bytes = 0;
};

/// `negatives` (may be null): N further rows; each anchor of X also meets those of its batch. Throws Error.
GapResult find_gap(const MatrixView& x, const MatrixView& y, const MatrixView* negatives,
                   const GapOptions& options, Observer* observer = nullptr);

}  // namespace gcbs
