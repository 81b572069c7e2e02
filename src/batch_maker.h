// Orders of one graph -> batches and their extra columns.
#pragma once

#include "batches/extra_columns.h"
#include "batches/make_batches.h"
#include "graph/graph.h"
#include "similarity/quick_judge.h"

namespace gcbs {

class BatchMaker {
 public:
  /// Borrows all. `judge` may be null: then all pairs are admissible. `graph` may be null where no extra
  /// columns are wanted. `ids`: the lists of groups as they were given, for messages.
  BatchMaker(const BatchOptions& options, std::size_t batch_size, std::uint64_t seed, const QuickJudge* judge,
             std::span<const GroupIds> ids, const Graph* graph, const RunContext& run);

  MadeBatches make(std::vector<Vertex> order) const;

  /// Weighs the edges by their values: once, before extra columns are asked for.
  void weigh(const Rows& x, const Rows& y, Array<float>&& values);

  /// The extra columns of an order's batches, as they are.
  ExtraColumns extras(std::span<const Vertex> order) const;

 private:
  SuspectTest suspect_test() const;

  const BatchOptions& options_;
  std::size_t batch_size_;
  std::uint64_t seed_;
  const QuickJudge* judge_;
  Groups none_;
  std::span<const GroupIds> ids_;
  const Graph* graph_;
  const RunContext& run_;
  Array<float> values_;
  Array<double> log_sums_;
};

/// The most that it holds beside the graph, the values of edges included, in bytes; `edges` as expected.
double batch_maker_bytes(const BatchOptions& options, std::size_t rows, double edges, std::size_t lists);

}  // namespace gcbs
