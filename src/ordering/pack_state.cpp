// Swaps, exactly.
//
// A swap of u and v changes the sums of both and of their neighbours in the two blocks, nobody else's. The
// lists of u and v are scanned, changes gathered by neighbour, and the logarithms taken of products of a few
// ratios. Cost: the lists of u and v. Sums are float64 in a fixed order.
#include "ordering/pack_state.h"

#include <algorithm>
#include <utility>

#include "base/elementary.h"

namespace gcbs {
namespace {

constexpr int kRatiosALog = 4;  // of e^160 at most: the product stays finite

/// The sum of the logarithms of many ratios.
class LogProduct {
 public:
  void multiply(double ratio) noexcept {
    product_ *= ratio;
    if (++count_ == kRatiosALog) flush();
  }
  double value() noexcept {
    flush();
    return sum_;
  }

 private:
  void flush() noexcept {
    sum_ += log_of(product_);
    product_ = 1;
    count_ = 0;
  }
  double sum_ = 0, product_ = 1;
  int count_ = 0;
};

}  // namespace

PackState::PackState(const PackModel& model, std::size_t block_size, std::vector<Vertex> order,
                     const RunContext& run)
    : model_(model),
      block_size_(block_size),
      order_(std::move(order)),
      seats_(order_.size(), Seat{}, run.meter),
      places_(order_.size(), run.meter),
      sums_(order_.size(), run.meter) {
  for (std::size_t p = 0; p < order_.size(); ++p) {
    seats_[order_[p]].block = static_cast<Vertex>(p / block_size_);
    places_[order_[p]] = static_cast<Vertex>(p % block_size_);
  }
  take_sums(run);
  if (model.unseen.rows != nullptr && block_size >= kLeastSummedBlock)
    unseen_.emplace(model.unseen, order_, block_size, run);
}

void PackState::take_sums(const RunContext& run) {
  const Graph& graph = *model_.graph;
  parallel_for(run, order_.size(), 1024, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto v = static_cast<Vertex>(i);
      const auto sum_of = [&](const Edges& edges, const Array<float>& weights) {
        double sum = static_cast<double>(model_.base[v]);
        for (EdgeIndex e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e) {
          const Vertex j = edges.columns[e];
          if (seats_[j].block == seats_[v].block && j != v) sum += static_cast<double>(weights[e]);
        }
        return sum;
      };
      set_sums(v, {sum_of(graph.out, model_.out), sum_of(graph.in, model_.in)});
    }
  });
}

void PackState::set_sums(Vertex v, AnchorSums sums) noexcept {
  const auto base = static_cast<double>(model_.base[v]);
  sums_[v] = {std::max(sums.x, base), std::max(sums.y, base)};
  seats_[v].set_shares(1 / sums_[v].x, 1 / sums_[v].y);
}

void PackState::swap(const SwapTrial& trial) {
  const Vertex u = trial.u_, v = trial.v_;
  if (unseen_) unseen_->swap(u, seats_[u].block, v, seats_[v].block);
  for (const Vertex j : trial.changed_) {
    const SwapTrial::Change& change = trial.changes_[trial.slot_of(j)];
    set_sums(j, {sums_[j].x + change.x, sums_[j].y + change.y});
  }
  set_sums(u, trial.new_u_);
  set_sums(v, trial.new_v_);
  std::swap(seats_[u].block, seats_[v].block);
  std::swap(places_[u], places_[v]);
  for (const Vertex w : {u, v}) order_[seats_[w].block * block_size_ + places_[w]] = w;
}

double PackState::worth_of_edges() const noexcept {
  double sum = 0;
  for (std::size_t v = 0; v < order_.size(); ++v) {
    const auto base = static_cast<double>(model_.base[v]);
    sum += log_of(sums_[v].x / base) + log_of(sums_[v].y / base);
  }
  return sum;
}

double PackState::objective() const noexcept {
  return worth_of_edges() + (unseen_ ? unseen_->objective() : 0);
}

SwapTrial::SwapTrial(const PackState& state)
    : state_(state), changes_(2 * state.block_size(), Change{0, 0, 0}) {}

/// Notes what v's way to another block does to its neighbours; returns its own new sums.
AnchorSums SwapTrial::move(Vertex v, Vertex to, Vertex partner) {
  const PackModel& model = state_.model();
  const Graph& graph = *model.graph;
  const auto base = static_cast<double>(model.base[v]);
  AnchorSums sums{base, base};
  const auto follow = [&](const Edges& edges, const Array<float>& weights, double AnchorSums::*own,
                          double Change::*theirs) {
    for (EdgeIndex e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e) {
      const Vertex j = edges.columns[e], block = state_.seat(j).block;
      if ((block != from_ && block != to_) || j == partner || j == v) continue;
      const auto weight = static_cast<double>(weights[e]);
      change_of(j).*theirs += block == to ? weight : -weight;
      if (block == to) sums.*own += weight;
    }
  };
  follow(graph.out, model.out, &AnchorSums::x, &Change::y);
  follow(graph.in, model.in, &AnchorSums::y, &Change::x);
  return sums;
}

double SwapTrial::gain(Vertex u, Vertex v) {
  if (++stamp_ == 0) {
    std::fill(changes_.begin(), changes_.end(), Change{0, 0, 0});
    stamp_ = 1;
  }
  changed_.clear();
  u_ = u, v_ = v;
  from_ = state_.seat(u).block, to_ = state_.seat(v).block;
  new_u_ = move(u, to_, v);
  new_v_ = move(v, from_, u);
  LogProduct gain;
  for (const auto& [now, then] : {std::pair{new_u_, state_.sums(u)}, std::pair{new_v_, state_.sums(v)}}) {
    gain.multiply(now.x / then.x);
    gain.multiply(now.y / then.y);
  }
  for (const Vertex j : changed_) {
    const auto base = static_cast<double>(state_.model().base[j]);
    const AnchorSums& sums = state_.sums(j);
    const Change& change = changes_[slot_of(j)];
    gain.multiply(std::max(sums.x + change.x, base) / sums.x);
    gain.multiply(std::max(sums.y + change.y, base) / sums.y);
  }
  const BlockSums* const unseen = state_.unseen();
  return gain.value() + (unseen == nullptr ? 0 : unseen->gain_of_swap(u, from_, v, to_));
}

}  // namespace gcbs
