#include "batch_maker.h"

#include "similarity/softmax_sums.h"

namespace gcbs {

BatchMaker::BatchMaker(const BatchOptions& options, std::size_t batch_size, std::uint64_t seed,
                       const QuickJudge* judge, std::span<const GroupIds> ids, const Graph* graph,
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

void BatchMaker::weigh(const Rows& x, const Rows& y, Array<float>&& values) {
  values_ = std::move(values);
  log_sums_ = estimate_log_sums(x, y, graph_->out, values_, options_.temperature, seed_, run_);
}

ExtraColumns BatchMaker::extras(std::span<const Vertex> order) const {
  const Groups& groups = judge_ == nullptr ? none_ : judge_->groups();
  return choose_extras(order, batch_size_, {graph_->out, values_, log_sums_, options_.temperature},
                       options_.extra, groups, suspect_test(), run_);
}

double batch_maker_bytes(const BatchOptions& options, std::size_t rows, double edges, std::size_t lists) {
  const double weights = options.extra == 0 ? 0 : 4 * edges + 8.0 * static_cast<double>(rows);
  return make_batches_bytes(rows, lists) + weights;
}

}  // namespace gcbs
