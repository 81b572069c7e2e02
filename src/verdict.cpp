// Anchors are drawn without regard to their values. Of an anchor's global sum, the kept edges are added one
// by one, since they carry most of it; the rest is the mean of a random sample of the other columns, times
// their number. The same sample gives the loss of a random batch. Cost: about 2 N similarities.
#include "verdict.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.h"
#include "loss/terms.h"
#include "similarity/definition.h"

namespace gcbs {
namespace {

constexpr std::size_t kLeastSample = 128, kLeastAnchors = 8, kMostAnchors = 512;
constexpr std::size_t kEvaluationsARow = 2;

/// One anchor: its losses, its edges, and what was drawn of its other pairs.
struct Seen {
  double global = 0, batch = 0, random = 0;
  std::uint64_t edges = 0, outranking = 0, drawn = 0, suspects = 0;
};

/// The anchors of one side: rows of `own` against rows of `other`.
class AnchorSide {
 public:
  AnchorSide(const Rows& own, const Rows& other, const Edges& edges, double temperature,
             const PairJudge* judge)
      : definition_(own, other),
        edges_(edges),
        rows_(other.count()),
        temperature_(temperature),
        judge_(judge) {}

  Seen look(Vertex i, std::span<const Vertex> batch, std::size_t batch_size, std::uint64_t seed) {
    const double positive = similarity(i, i);
    Seen seen;
    LogSum global, in_batch, random;
    for (const Vertex j : edges_.row(i)) {
      if (j == i) continue;
      const double s = similarity(i, j);
      global.add(s / temperature_);
      ++seen.edges;
      seen.outranking += s > positive;
    }
    add_sample(i, batch_size, seed, seen, global, random);
    for (const Vertex j : batch)
      if (j != i && admits(i, j)) in_batch.add(similarity(i, j) / temperature_);
    const auto loss = [&](const LogSum& sum) { return softplus_of(sum.value() - positive / temperature_); };
    seen.global = loss(global);
    seen.batch = loss(in_batch);
    seen.random = loss(random);
    return seen;
  }

 private:
  /// Columns drawn at random: the first ones are a batch; those that are no edges stand for the rest.
  void add_sample(Vertex i, std::size_t batch_size, std::uint64_t seed, Seen& seen, LogSum& global,
                  LogSum& random) {
    Random draw(seed);
    const std::size_t others = rows_ - 1, wanted = std::min(others, std::max(kLeastSample, batch_size - 1));
    LogSum rest;
    std::size_t of_rest = 0;
    for (std::size_t d = 0; d < wanted; ++d) {
      auto j = static_cast<Vertex>(draw.below(others));
      j += j >= i;
      const double exponent = similarity(i, j) / temperature_;
      const bool counts = admits(i, j);
      ++seen.drawn;
      seen.suspects += !counts && judge_->is_suspect(i, j);
      if (counts && d < batch_size - 1) random.add(exponent);
      const std::span<const Vertex> row = edges_.row(i);
      if (std::binary_search(row.begin(), row.end(), j)) continue;
      if (counts) rest.add(exponent);
      ++of_rest;
    }
    if (of_rest > 0 && others > seen.edges)
      global.add(rest.value() +
                 log_of(static_cast<double>(others - seen.edges) / static_cast<double>(of_rest)));
  }

  bool admits(Vertex i, Vertex j) const { return judge_ == nullptr || judge_->admits(i, j); }

  double similarity(Vertex i, Vertex j) {
    const FinePair pair{i, j};
    double s = definition_.near(pair);
    if (std::isnan(s)) definition_.evaluate({&pair, 1}, {&s, 1});
    return s;
  }

  Definition definition_;
  const Edges& edges_;
  std::size_t rows_;
  double temperature_;
  const PairJudge* judge_;
};

std::size_t count_anchors(std::size_t rows, std::size_t edges_a_row, std::size_t batch_size) {
  const std::size_t an_anchor = 2 * (edges_a_row + batch_size + std::max(kLeastSample, batch_size - 1));
  return std::min(rows, std::clamp(kEvaluationsARow * rows / an_anchor, kLeastAnchors, kMostAnchors));
}

/// Ratio of sums, and its 95 % interval by the spread of what the ratio leaves over.
Verdict verdict_of(const std::vector<Seen>& anchors) {
  const auto count = static_cast<double>(anchors.size());
  double won = 0, all = 0;
  std::uint64_t edges = 0, outranking = 0, drawn = 0, suspects = 0;
  for (const Seen& seen : anchors) {
    drawn += seen.drawn;
    suspects += seen.suspects;
    won += seen.batch - seen.random;
    all += seen.global - seen.random;
    edges += seen.edges;
    outranking += seen.outranking;
  }
  Verdict verdict;
  verdict.anchors = anchors.size();
  verdict.outranking = edges == 0 ? 0 : static_cast<double>(outranking) / static_cast<double>(edges);
  verdict.suspects = drawn == 0 ? 0 : static_cast<double>(suspects) / static_cast<double>(drawn);
  if (!(all > 0)) return verdict;
  const double ratio = won / all;
  double squares = 0;
  for (const Seen& seen : anchors) {
    const double left = (seen.batch - seen.random) - ratio * (seen.global - seen.random);
    squares += left * left;
  }
  const double deviation = std::sqrt(squares / count / std::max(count - 1, 1.0)) / (all / count);
  verdict.gap_closed = ratio;
  verdict.low = ratio - 1.96 * deviation;
  verdict.high = ratio + 1.96 * deviation;
  return verdict;
}

}  // namespace

std::optional<Verdict> judge_order(const Rows& x, const Rows& y, const Graph& graph,
                                   std::span<const Vertex> order, std::size_t batch_size,
                                   const VerdictOptions& options, std::uint64_t seed, const RunContext& run,
                                   const PairJudge* judge) {
  const std::size_t n = x.count();
  if (batch_size >= n) return {};
  const std::size_t anchors = count_anchors(n, graph.out.count() / n, batch_size);
  std::vector<std::uint64_t> seeds(3 * anchors);
  Random draw(seed);
  for (std::uint64_t& value : seeds) value = draw.next();
  std::vector<Seen> seen(2 * anchors);
  parallel_for(run, anchors, 1, [&](std::size_t a, std::size_t, unsigned) {
    // Positions at even distances, each moved at random within its stretch: all batches are looked at alike.
    const std::size_t begin = a * n / anchors, end = (a + 1) * n / anchors;
    const std::size_t position = begin + seeds[3 * a] % (end - begin);
    const std::size_t first = position / batch_size * batch_size;
    const std::span<const Vertex> batch = order.subspan(first, std::min(batch_size, n - first));
    const Vertex i = order[position];
    seen[2 * a] =
        AnchorSide(x, y, graph.out, options.temperature, judge).look(i, batch, batch_size, seeds[3 * a + 1]);
    seen[2 * a + 1] =
        AnchorSide(y, x, graph.in, options.temperature, judge).look(i, batch, batch_size, seeds[3 * a + 2]);
  });
  return verdict_of(seen);
}

}  // namespace gcbs
