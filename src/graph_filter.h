// A filter made ready for the graph: who may be an edge, and how many edges are wanted.
#pragma once

#include <optional>

#include "gcbs/pipeline.h"
#include "mining/top_rows.h"
#include "similarity/edge_sieve.h"
#include "similarity/find_edges.h"
#include "similarity/quick_judge.h"

namespace gcbs {

/// Contract C10's test on suspects for those who mine: of columns of one of x, y for rows of the other.
class NotSuspect final : public PairFilter {
 public:
  /// `judges_its_own`: the similarities looked at are those of X and Y, and suspects are judged by them.
  NotSuspect(const QuickJudge& judge, bool judges_its_own) : judge_(judge), judges_its_own_(judges_its_own) {}

  bool admits(Vertex row, Vertex column, double low, double) const override {
    if (judges_its_own_ && low > admissible().limit_of(row, column)) return false;
    return !judge_.is_suspect(row, column);
  }
  std::span<const double> ceiling() const override {
    return judges_its_own_ ? std::span<const double>(admissible().limit) : std::span<const double>();
  }

 private:
  const Admissible& admissible() const noexcept { return judge_.judge().admissible(); }

  const QuickJudge& judge_;
  bool judges_its_own_;
};

/// How many edges the options ask for: m N, or round((1 - q) N^2).
std::uint64_t count_wanted_edges(const SimilarityOptions& options, std::size_t batch_size, std::size_t rows);

/// Borrows the rows.
class GraphFilter {
 public:
  /// A rank window takes a pass over all products: the last skipped column of every row.
  GraphFilter(const FilterOptions& options, std::uint64_t wanted_edges, const Rows& x, const Rows& y,
              const Kernel& kernel, const RunContext& run, const StageMark& begin_stage);

  const PairJudge& judge() const noexcept { return judge_; }
  const EdgeFilter& edges() const noexcept { return edges_; }

 private:
  PairJudge judge_;
  Array<RankCut> cuts_;
  EdgeFilter edges_;
};

/// What is refused before work starts: a filter that contradicts the rest or cannot fit the data.
void check_graph_filter(const FilterOptions& filter, const SimilarityOptions& similarity, std::size_t rows);

/// What a filter takes beside the graph, in bytes.
double filter_bytes(const FilterOptions& options, std::size_t rows, std::size_t cols, unsigned threads);

}  // namespace gcbs
