// What an order does with the kept edges.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "loss/loss_model.h"

namespace gcbs {

/// A bit for each edge, in the order of the edges: set where s(i,j) > s(i,i).
class Outranking {
 public:
  Outranking(const Edges& edges, const LossModel& model, const Kernel& kernel, const RunContext& run);

  bool at(EdgeIndex edge) const noexcept { return (words_[edge / 64] >> edge % 64 & 1) != 0; }
  /// None where there is no edge.
  std::optional<double> share() const noexcept { return share_; }

 private:
  Array<std::uint64_t> words_;
  std::optional<double> share_;
};

struct EdgeStats {
  EdgeIndex in_batch = 0;
  std::optional<double> outranking_in_batch;
  std::uint64_t bandwidth = 0;  ///< the longest way between the positions of an edge's ends
};
EdgeStats edge_stats(const Edges& edges, const Outranking& outranking, std::span<const Vertex> order,
                     std::size_t batch_size, const RunContext& run);

}  // namespace gcbs
