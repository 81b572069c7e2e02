#include "batch_maker.h"

#include "similarity/edge_values.h"
#include "similarity/softmax_sums.h"

namespace gcbs {

BatchMaker::BatchMaker(const BatchOptions& options, std::size_t batch_size, std::uint64_t seed,
                       const PairJudge* judge, std::span<const GroupIds> ids, const Graph* graph,
                       const RunContext& run)
    : options_(options),
      batch_size_(batch_size),
      seed_(seed),
      judge_(judge),
      ids_(ids),
      graph_(graph),
      run_(run) {}

SuspectTest BatchMaker::suspect_test() const {
  if (judge_ == nullptr || !judge_->has_margins()) return {};
  return [judge = judge_](Vertex i, Vertex j) { return judge->is_suspect(i, j); };
}

MadeBatches BatchMaker::make(std::vector<Vertex> order) const {
  const Groups& groups = judge_ == nullptr ? none_ : judge_->groups();
  return make_batches(std::move(order), {batch_size_, options_, seed_, groups, ids_, graph_, suspect_test()},
                      run_);
}

ExtraColumns BatchMaker::extras(std::span<const Vertex> order, const Rows& x, const Rows& y) {
  const Edges& edges = graph_->out;
  if (!weights_) {
    Array<float> values = edge_values(x, y, edges, run_);
    Array<double> log_sums = estimate_log_sums(x, y, edges, values, options_.temperature, seed_, run_);
    weights_ = Weights{std::move(values), std::move(log_sums)};
  }
  const Groups& groups = judge_ == nullptr ? none_ : judge_->groups();
  return choose_extras(order, batch_size_,
                       {edges, weights_->values, weights_->log_sums, options_.temperature}, options_.extra,
                       groups, suspect_test(), run_);
}

double batch_maker_bytes(const BatchOptions& options, std::size_t rows, std::size_t cols, double edges,
                         std::size_t lists) {
  const double weights =
      options.extra == 0 ? 0 : edge_values_bytes(rows, cols, edges) + 8.0 * static_cast<double>(rows);
  return make_batches_bytes(rows, lists) + weights;
}

}  // namespace gcbs
