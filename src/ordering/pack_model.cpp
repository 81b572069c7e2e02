// Similarities -> weights and bases.
//
// The loss of anchor x of i in a batch is log(e^(p / tau) + sum of e^(s / tau)) - p / tau. Pairs without an
// edge are unknown here: each counts as kUnseen times the mean of random pairs, since the pairs of a good
// block lie above the average even where they miss the threshold. The result hardly depends on the factor.
//
// Only ratios of X count, so all exponents are taken relative to the middle of the edges' range: with the
// limit of 80 they fit float32.
#include "ordering/pack_model.h"

#include <algorithm>

#include "base/elementary.h"

namespace gcbs {
namespace {

constexpr double kUnseen = 8, kMostExponent = 80;
/// A base so many times the largest sum bends the logarithm by less than one part in 2,000.
constexpr double kStraight = 1e3;

double exponential(double s, double middle, double temperature) {
  return exp_of(std::clamp((s - middle) / temperature, -kMostExponent, kMostExponent));
}

/// The same values in the order of graph.in: its rows are ascending, and so are we.
Array<float> transpose_values(const Graph& graph, const Array<float>& out, const RunContext& run) {
  Array<float> in(out.size(), run.meter);
  Array<EdgeIndex> next(graph.vertices(), run.meter);
  std::copy_n(graph.in.offsets.begin(), graph.vertices(), next.begin());
  for (EdgeIndex e = 0; e < out.size(); ++e) in[next[graph.out.columns[e]]++] = out[e];
  return in;
}

void weigh_loss(PackModel& model, const PackValues& values, const RunContext& run) {
  float least = 1, most = -1;
  for (const float s : model.out) least = std::min(least, s), most = std::max(most, s);
  const double middle = model.out.empty() ? 0 : (static_cast<double>(least) + static_cast<double>(most)) / 2;
  const double tau = values.temperature;
  double unseen = 0, count = 0;
  for (const double s : values.sample) {
    if (s > static_cast<double>(least)) continue;  // an edge, and not unseen
    unseen += exponential(s, middle, tau);
    ++count;
  }
  if (count > 0) unseen /= count;
  const double unseen_sum = kUnseen * static_cast<double>(values.batch_size - 1) * unseen;
  parallel_for(
      run, model.out.size(), std::size_t{1} << 16, [&](std::size_t begin, std::size_t end, unsigned) {
        for (std::size_t e = begin; e < end; ++e)
          model.out[e] = static_cast<float>(exponential(static_cast<double>(model.out[e]), middle, tau));
      });
  for (std::size_t i = 0; i < model.vertices(); ++i)
    model.base[i] = static_cast<float>(exponential(values.positives[i], middle, tau) + unseen_sum);
  if (values.rows == nullptr || count == 0) return;
  double share = 0;
  for (const float base : model.base) share += 1 / static_cast<double>(base);
  share /= static_cast<double>(model.vertices());
  // A pair enters two sums, one of each of its rows.
  model.unseen = {values.rows, 2 * share * unseen / tau * values.rows->x.scale * values.rows->y.scale};
}

void weigh_straight(PackModel& model, const PackValues& values, Objective objective) {
  float most = 1e-6f;
  for (float& s : model.out) {
    s = objective == Objective::edges ? 1.0f : std::max(s, 1e-6f);
    most = std::max(most, s);
  }
  const double largest_sum = static_cast<double>(most) * static_cast<double>(values.batch_size);
  model.unit = 2 * static_cast<double>(most) / (kStraight * largest_sum);
  std::fill(model.base.begin(), model.base.end(), static_cast<float>(kStraight * largest_sum));
}

}  // namespace

PackModel make_pack_model(const Graph& graph, PackValues&& values, Objective objective,
                          const RunContext& run) {
  const std::size_t n = graph.vertices();
  PackModel model{&graph, std::move(values.similarities), {}, Array<float>(n, run.meter)};
  if (objective == Objective::loss)
    weigh_loss(model, values, run);
  else
    weigh_straight(model, values, objective);
  model.in = transpose_values(graph, model.out, run);
  return model;
}

}  // namespace gcbs
