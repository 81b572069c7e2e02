#include "edge_stats.h"

#include <algorithm>
#include <atomic>
#include <bit>

namespace gcbs {
namespace {

constexpr std::size_t kEdgesAtOnce = 1 << 12;

/// Which of a row's columns are more similar to it than its own. One a thread.
class RowJudge {
 public:
  RowJudge(const LossModel& model, const Kernel& kernel)
      : model_(model), kernel_(kernel), definition_(*model.pairs().left, *model.pairs().right) {}

  template <class Mark>
  void judge(std::size_t i, std::span<const Vertex> columns, Mark&& mark) {
    const LossPart& pairs = model_.pairs();
    const double positive = model_.positives()[i];
    if (pairs.is_exact()) {
      for (std::size_t c = 0; c < columns.size(); ++c)
        if (pairs.table[i * pairs.count() + columns[c]] > positive) mark(c);
      return;
    }
    const FineOperand &x = pairs.fine.x, &y = pairs.fine.y;
    for (std::size_t first = 0; first < columns.size(); first += kEdgesAtOnce) {
      const std::size_t count = std::min(kEdgesAtOnce, columns.size() - first);
      asked_.resize(count);
      products_.resize(count);
      for (std::size_t c = 0; c < count; ++c) asked_[c] = {static_cast<Vertex>(i), columns[first + c]};
      kernel_.fine({x.values.data(), y.values.data(), x.stride, asked_.data(), count, products_.data()});
      for (std::size_t c = 0; c < count; ++c) {
        const Vertex j = columns[first + c];
        const double value =
            x.scale * y.scale * static_cast<double>(products_[c]) + x.offset[i] + y.offset[j];
        const double bound = pairs.bound.row[i] + pairs.bound.col[j];
        if (value - bound > positive || (value + bound > positive && exceeds(asked_[c], positive)))
          mark(first + c);
      }
    }
  }

 private:
  bool exceeds(const FinePair& pair, double positive) {
    double exact = 0;
    definition_.evaluate({&pair, 1}, {&exact, 1});
    return exact > positive;
  }

  const LossModel& model_;
  const Kernel& kernel_;
  Definition definition_;
  std::vector<FinePair> asked_;
  std::vector<std::int64_t> products_;
};

}  // namespace

Outranking::Outranking(const Edges& edges, const LossModel& model, const Kernel& kernel,
                       const RunContext& run)
    : words_(edges.count() / 64 + 1, std::uint64_t{0}, run.meter) {
  parallel_for(run, edges.rows(), 64, [&](std::size_t begin, std::size_t end, unsigned) {
    RowJudge judge(model, kernel);
    for (std::size_t i = begin; i < end; ++i)
      judge.judge(i, edges.row(i), [&](std::size_t c) {
        const EdgeIndex edge = edges.offsets[i] + c;
        std::atomic_ref(words_[edge / 64]).fetch_or(std::uint64_t{1} << edge % 64, std::memory_order_relaxed);
      });
  });
  if (edges.count() == 0) return;
  std::uint64_t marked = 0;
  for (const std::uint64_t word : words_) marked += static_cast<std::uint64_t>(std::popcount(word));
  share_ = static_cast<double>(marked) / static_cast<double>(edges.count());
}

EdgeStats edge_stats(const Edges& edges, const Outranking& outranking, std::span<const Vertex> order,
                     std::size_t batch_size, const RunContext& run) {
  Array<Vertex> position(order.size(), run.meter);
  for (std::size_t p = 0; p < order.size(); ++p) position[order[p]] = static_cast<Vertex>(p);
  EdgeStats stats;
  EdgeIndex outranked = 0;
  for (std::size_t i = 0; i < edges.rows(); ++i) {
    const std::uint64_t from = position[i];
    for (EdgeIndex e = edges.offsets[i]; e < edges.offsets[i + 1]; ++e) {
      const std::uint64_t to = position[edges.columns[e]];
      stats.bandwidth = std::max(stats.bandwidth, from < to ? to - from : from - to);
      if (from / batch_size != to / batch_size) continue;
      ++stats.in_batch;
      outranked += outranking.at(e);
    }
  }
  if (stats.in_batch > 0)
    stats.outranking_in_batch = static_cast<double>(outranked) / static_cast<double>(stats.in_batch);
  return stats;
}

}  // namespace gcbs
