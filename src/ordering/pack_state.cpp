// Swaps, exactly.
//
// A swap of u and v changes the sums of both and of their neighbours in the two blocks, nobody else's. The
// lists of u and v are scanned, changes gathered by neighbour, and the logarithms taken of products of a few
// ratios. Cost: the lists of u and v. Sums are float64 in a fixed order.
#include "ordering/pack_state.h"

#include <algorithm>

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
      place_of_(order_.size(), run.meter),
      seats_(order_.size(), run.meter),
      sums_(order_.size(), run.meter),
      changes_(order_.size(), run.meter),
      stamp_of_(order_.size(), std::uint32_t{0}, run.meter) {
  for (std::size_t p = 0; p < order_.size(); ++p) {
    place_of_[order_[p]] = static_cast<Vertex>(p);
    seats_[order_[p]].block = static_cast<Vertex>(p / block_size_);
  }
  take_sums();
}

void PackState::take_sums() {
  const Graph& graph = *model_.graph;
  for (Vertex v = 0; v < order_.size(); ++v) {
    const Vertex block = seats_[v].block;
    const auto sum_of = [&](const Edges& edges, const Array<float>& weights) {
      double sum = static_cast<double>(model_.base[v]);
      for (EdgeIndex e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e) {
        const Vertex j = edges.columns[e];
        if (seats_[j].block == block && j != v) sum += static_cast<double>(weights[e]);
      }
      return sum;
    };
    set_sums(v, sum_of(graph.out, model_.out), sum_of(graph.in, model_.in));
  }
}

void PackState::set_sums(Vertex v, double x, double y) noexcept {
  const auto base = static_cast<double>(model_.base[v]);
  sums_[v] = {std::max(x, base), std::max(y, base)};
  seats_[v].share_x = static_cast<float>(1 / sums_[v].x);
  seats_[v].share_y = static_cast<float>(1 / sums_[v].y);
}

/// Notes what v's way from one block to another does to its neighbours; returns its own new sums.
PackState::Sums PackState::move(Vertex v, Vertex from, Vertex to, Vertex partner) {
  const Graph& graph = *model_.graph;
  const auto base = static_cast<double>(model_.base[v]);
  Sums sums{base, base};
  for (EdgeIndex e = graph.out.offsets[v]; e < graph.out.offsets[v + 1]; ++e) {
    const Vertex j = graph.out.columns[e], block = seats_[j].block;
    if ((block != from && block != to) || j == partner || j == v) continue;
    const auto weight = static_cast<double>(model_.out[e]);
    add_change(j, 0, block == to ? weight : -weight);
    if (block == to) sums.x += weight;
  }
  for (EdgeIndex e = graph.in.offsets[v]; e < graph.in.offsets[v + 1]; ++e) {
    const Vertex j = graph.in.columns[e], block = seats_[j].block;
    if ((block != from && block != to) || j == partner || j == v) continue;
    const auto weight = static_cast<double>(model_.in[e]);
    add_change(j, block == to ? weight : -weight, 0);
    if (block == to) sums.y += weight;
  }
  return sums;
}

double PackState::gain_of_swap(Vertex u, Vertex v) {
  if (++stamp_ == 0) {
    std::fill(stamp_of_.begin(), stamp_of_.end(), std::uint32_t{0});
    stamp_ = 1;
  }
  changed_.clear();
  const Vertex from = seats_[u].block, to = seats_[v].block;
  new_u_ = move(u, from, to, v);
  new_v_ = move(v, to, from, u);
  LogProduct gain;
  gain.multiply(new_u_.x / sums_[u].x);
  gain.multiply(new_u_.y / sums_[u].y);
  gain.multiply(new_v_.x / sums_[v].x);
  gain.multiply(new_v_.y / sums_[v].y);
  for (const Vertex j : changed_) {
    const auto base = static_cast<double>(model_.base[j]);
    gain.multiply(std::max(sums_[j].x + changes_[j].x, base) / sums_[j].x);
    gain.multiply(std::max(sums_[j].y + changes_[j].y, base) / sums_[j].y);
  }
  return gain.value();
}

void PackState::swap(Vertex u, Vertex v) {
  for (const Vertex j : changed_) set_sums(j, sums_[j].x + changes_[j].x, sums_[j].y + changes_[j].y);
  set_sums(u, new_u_.x, new_u_.y);
  set_sums(v, new_v_.x, new_v_.y);
  std::swap(seats_[u].block, seats_[v].block);
  std::swap(order_[place_of_[u]], order_[place_of_[v]]);
  std::swap(place_of_[u], place_of_[v]);
}

double PackState::objective() const noexcept {
  double sum = 0;
  for (std::size_t v = 0; v < order_.size(); ++v) {
    const auto base = static_cast<double>(model_.base[v]);
    sum += log_of(sums_[v].x / base) + log_of(sums_[v].y / base);
  }
  return sum;
}

}  // namespace gcbs
