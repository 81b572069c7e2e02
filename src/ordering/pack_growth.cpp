// Greedy growth: the free vertex that is tied most closely to the block joins it, until the block is full.
//
// Ensures: every vertex in one block, blocks full but for the last. Deterministic, ties to the lower index.
// Cost: every list once, O(E log E) for the queue.
//
// An edge counts as its share of the two sums that it would enter over all edges, w / Z: what it adds to the
// objective at first order. Growth by the objective itself costs more, and swaps make up for it. The queue
// holds outdated entries; only one that equals the present score is good.
#include <algorithm>
#include <queue>
#include <utility>

#include "ordering/pace.h"
#include "ordering/pack_steps.h"

namespace gcbs {
namespace {

class Growth {
 public:
  Growth(const PackModel& model, std::span<const Vertex> seeds, const BlockRules* rules,
         const RunContext& run)
      : model_(model),
        seeds_(seeds),
        rules_(rules),
        share_x_(seeds.size(), run.meter),
        share_y_(seeds.size(), run.meter),
        score_(seeds.size(), 0.0f, run.meter),
        placed_(seeds.size(), false),
        pace_(run, seeds.size()) {
    order_.reserve(seeds.size());
    const auto share = [&](const Edges& edges, const Array<float>& weights, Vertex v) {
      double sum = static_cast<double>(model_.base[v]);
      for (EdgeIndex e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e)
        sum += static_cast<double>(weights[e]);
      return static_cast<float>(1 / sum);
    };
    for (Vertex v = 0; v < seeds.size(); ++v) {
      share_x_[v] = share(model_.graph->out, model_.out, v);
      share_y_[v] = share(model_.graph->in, model_.in, v);
    }
  }

  std::vector<Vertex> run(std::size_t block_size) {
    while (order_.size() < seeds_.size()) grow(std::min(block_size, seeds_.size() - order_.size()));
    return std::move(order_);
  }

 private:
  void grow(std::size_t size) {
    queue_ = {};
    first_ = order_.size();
    while (order_.size() < first_ + size) join(next());
    for (const Vertex v : touched_) score_[v] = 0;
    touched_.clear();
  }

  bool fits(Vertex v) const {
    return rules_ == nullptr || rules_->may_join(v, std::span(order_).subspan(first_), v);
  }

  Vertex next() {
    while (!queue_.empty()) {
      const auto [score, behind] = queue_.top();
      queue_.pop();
      const Vertex v = ~behind;
      if (!placed_[v] && score == score_[v] && fits(v)) return v;
    }
    while (placed_[seeds_[next_seed_]]) ++next_seed_;
    for (std::size_t s = next_seed_; s < std::min(seeds_.size(), next_seed_ + kSeedsTried); ++s)
      if (!placed_[seeds_[s]] && fits(seeds_[s])) return seeds_[s];
    return seeds_[next_seed_];
  }

  void join(Vertex v) {
    placed_[v] = true;
    order_.push_back(v);
    score(model_.graph->out, model_.out, v, share_x_, share_y_);
    score(model_.graph->in, model_.in, v, share_y_, share_x_);
    pace_.take(static_cast<std::size_t>(model_.graph->out.row(v).size() + model_.graph->in.row(v).size()) * 8,
               order_.size());
  }

  void score(const Edges& edges, const Array<float>& weights, Vertex v, const Array<float>& own,
             const Array<float>& other) {
    for (EdgeIndex e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e) {
      const Vertex j = edges.columns[e];
      if (placed_[j]) continue;
      if (score_[j] == 0) touched_.push_back(j);
      score_[j] += weights[e] * (own[v] + other[j]);
      queue_.emplace(score_[j], ~j);
    }
  }

  static constexpr std::size_t kSeedsTried = 4096;
  const PackModel& model_;
  std::span<const Vertex> seeds_;
  const BlockRules* rules_;
  Array<float> share_x_, share_y_, score_;
  std::vector<bool> placed_;
  std::vector<Vertex> order_, touched_;
  std::priority_queue<std::pair<float, Vertex>> queue_;  ///< vertices as ~v: ties to the lower index
  std::size_t first_ = 0, next_seed_ = 0;
  Pace pace_;
};

}  // namespace

std::vector<Vertex> grow_blocks(const PackModel& model, std::size_t block_size, std::span<const Vertex> seeds,
                                const BlockRules* rules, const RunContext& run) {
  return Growth(model, seeds, rules, run).run(block_size);
}

}  // namespace gcbs
