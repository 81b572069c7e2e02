// Batches one by one, in parallel: what the bounds read, and the log sums of the anchors. Then the anchors in
// doubt are looked at again, and losses are summed in the order of batches.
#include "loss/batch_terms.h"
#include "loss/extra_terms.h"
#include "loss/loss_model.h"

namespace gcbs {

void LossModel::sharpen(std::span<DoubtfulAnchor> anchors, std::span<const Vertex> order,
                        std::size_t batch_size, Side side) const {
  const std::size_t n = order.size(), batches = (n + batch_size - 1) / batch_size;
  std::vector<double> shares(n);
  double mean = 0;
  for (std::size_t p = 0; p < n; ++p) {
    const double value = loss(anchors[p].log_sum, order[p]);
    shares[p] = 1 - exp_of(-value);
    mean += value / static_cast<double>(n);
  }
  const double limit = find_doubt_limit(shares, moved(), mean, most_in_doubt(n, batch_size));
  if (limit == kInfinity) return;
  parallel_for(run_, batches, std::max<std::size_t>(1, 256 / batch_size),
               [&](std::size_t begin, std::size_t end, unsigned) {
                 const KernelOnThread ready(kernel_);
                 Sharpener mine = sharpener(side);
                 for (std::size_t b = begin; b < end; ++b) {
                   const std::size_t first = b * batch_size, last = std::min(n, first + batch_size);
                   std::vector<DoubtfulAnchor> doubtful;
                   for (std::size_t p = first; p < last; ++p)
                     if (shares[p] >= limit) doubtful.push_back(anchors[p]);
                   if (doubtful.empty()) continue;
                   mine.sharpen(doubtful, order.subspan(first, last - first));
                   auto next = doubtful.begin();
                   for (std::size_t p = first; p < last; ++p)
                     if (shares[p] >= limit) anchors[p] = *next++;
                 }
               });
}

OrderLoss LossModel::of_order(std::span<const Vertex> order, std::size_t batch_size, const GlobalLoss& global,
                              const ExtraColumns* extras) const {
  const std::size_t n = order.size(), batches = (n + batch_size - 1) / batch_size;
  const double tau = options_.temperature;
  /// Sums over the anchors of a batch, of each direction.
  struct Sums {
    double loss[2] = {}, probability[2] = {};
    Bounds bounds[2];
    double least = kInfinity, trace = 0;
  };
  std::vector<Sums> sums(batches);
  std::vector<DoubtfulAnchor> anchors[2];  // by position
  for (auto& side : anchors) side.resize(n);
  parallel_for(
      run_, batches, std::max<std::size_t>(1, 256 / batch_size),
      [&](std::size_t begin, std::size_t end, unsigned) {
        const KernelOnThread ready(kernel_);
        BatchTerms terms(*this, batch_size);
        for (std::size_t b = begin; b < end; ++b) {
          const std::span<const Vertex> members =
              order.subspan(b * batch_size, std::min(batch_size, n - b * batch_size));
          terms.run(members);
          if (extras != nullptr)
            add_extra_terms(pairs(), members, extras->of_batch(b), options_.temperature, terms.x);
          Sums& sum = sums[b];
          for (std::size_t r = 0; r < members.size(); ++r) {
            const Vertex i = members[r];
            const double s = positives_[i];
            sum.least = std::min({sum.least, s, terms.pairs[r].least});
            sum.trace += 2 * (s + terms.pairs[r].total);
            for (int d = 0; d < 2; ++d) {
              const Terms& mine = d == 0 ? terms.x[r] : terms.y[r];
              const Anchors& all = d == 0 ? global.x : global.y;
              anchors[d][b * batch_size + r] = {i, mine.exponentials.value(), mine.most};
              const double least = std::min(s, mine.least);
              const double log_batch = log_of(static_cast<double>(mine.count) + 1),
                           log_all = log_of(all.count[i]);
              sum.bounds[d].theorem1 += (all.most[i] - least) / tau + (log_all - log_batch);
              sum.bounds[d].lemma2 += (least - s) / tau + log_batch;
            }
          }
        }
      },
      Report::progress);
  if (moved() > 0) {
    sharpen(anchors[0], order, batch_size, Side::x);
    sharpen(anchors[1], order, batch_size, Side::y);
  }
  for (std::size_t p = 0; p < n; ++p)
    for (int d = 0; d < 2; ++d) {
      const Vertex i = order[p];
      const Anchors& all = d == 0 ? global.x : global.y;
      const double value = loss(anchors[d][p].log_sum, i), s = positives_[i];
      const double most = std::max(s, anchors[d][p].most);
      Sums& sum = sums[p / batch_size];
      sum.loss[d] += value;
      sum.probability[d] += exp_of(-value);
      sum.bounds[d].theorem2 += (all.most[i] - most) / tau + log_of(all.count[i]);
      sum.bounds[d].lemma3 += (most - s) / tau;
    }

  const auto rows = static_cast<double>(n);
  Sums all;
  OrderLoss result;
  const auto chosen = [&](double x, double y) {
    return options_.direction == Direction::x ? x : options_.direction == Direction::y ? y : mean_of(x, y);
  };
  for (std::size_t b = 0; b < batches; ++b) {
    const Sums& sum = sums[b];
    for (int d = 0; d < 2; ++d) {
      all.loss[d] += sum.loss[d];
      all.probability[d] += sum.probability[d];
      all.bounds[d].theorem1 += sum.bounds[d].theorem1;
      all.bounds[d].theorem2 += sum.bounds[d].theorem2;
      all.bounds[d].lemma2 += sum.bounds[d].lemma2;
      all.bounds[d].lemma3 += sum.bounds[d].lemma3;
    }
    all.least = std::min(all.least, sum.least);
    all.trace += sum.trace;
    const auto size = static_cast<double>(std::min(batch_size, n - b * batch_size));
    result.batches.push_back(
        {chosen(sum.loss[0], sum.loss[1]) / size, 1 - chosen(sum.probability[0], sum.probability[1]) / size});
  }
  const auto by_direction = [&](const double* sum) {
    return ByDirection{sum[0] / rows, sum[1] / rows, mean_of(sum[0] / rows, sum[1] / rows)};
  };
  const auto bound = [&](double Bounds::*which) {
    return chosen(all.bounds[0].*which, all.bounds[1].*which) / rows;
  };
  result.loss = by_direction(all.loss);
  result.probability = by_direction(all.probability);
  result.bounds = {bound(&Bounds::theorem1), bound(&Bounds::theorem2), bound(&Bounds::lemma2),
                   bound(&Bounds::lemma3)};
  result.qbap = all.least;
  result.qap = all.trace;
  return result;
}

}  // namespace gcbs
