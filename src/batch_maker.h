// Orders of one graph -> batches and their extra columns.
#pragma once

#include <optional>

#include "batches/extra_columns.h"
#include "batches/make_batches.h"
#include "graph/graph.h"
#include "similarity/pair_judge.h"

namespace gcbs {

class BatchMaker {
 public:
  /// Borrows all. `judge` may be null: then all pairs are admissible. `graph` may be null where no extra
  /// columns are wanted. `ids`: the lists of groups as they were given, for messages.
  BatchMaker(const BatchOptions& options, std::size_t batch_size, std::uint64_t seed, const PairJudge* judge,
             std::span<const GroupIds> ids, const Graph* graph, const RunContext& run);

  MadeBatches make(std::vector<Vertex> order) const;

  /// The extra columns of an order's batches, as they are. Edges are weighed once, at the first call.
  ExtraColumns extras(std::span<const Vertex> order, const Rows& x, const Rows& y);

 private:
  SuspectTest suspect_test() const;

  const BatchOptions& options_;
  std::size_t batch_size_;
  std::uint64_t seed_;
  const PairJudge* judge_;
  Groups none_;
  std::span<const GroupIds> ids_;
  const Graph* graph_;
  const RunContext& run_;
  struct Weights {
    Array<float> values;
    Array<double> log_sums;
  };
  std::optional<Weights> weights_;
};

/// The most that it allocates beside the graph, in bytes; `edges` as expected.
double batch_maker_bytes(const BatchOptions& options, std::size_t rows, std::size_t cols, double edges,
                         std::size_t lists);

}  // namespace gcbs
