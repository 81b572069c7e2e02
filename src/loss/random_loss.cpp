// Trials one by one, in parallel; summed in the order of trials. The first one shows which anchors are in
// doubt (sharpen.h): those of all trials whose negatives have as large a share.
#include <array>
#include <cmath>
#include <memory>
#include <optional>

#include "base/random.h"
#include "loss/batch_terms.h"
#include "loss/loss_model.h"
#include "ordering/orders.h"

namespace gcbs {

namespace {

/// Of the terms that an order may look at again, a trial has a share.
constexpr std::size_t kTrialShare = 16;

}  // namespace

/// Only the losses of one batch after the other, as fast as the machine can.
class LossModel::BatchSums {
 public:
  BatchSums(const LossModel& model, std::size_t batch_size) : model_(model), slow_(model, batch_size) {
    for (const Entry& entry : model.parts_) {
      blocks_.push_back(model.block_terms(entry.part, batch_size));
      fast_ = fast_ && blocks_.back().is_fast();
    }
  }

  /// Anchors with these shares or more are looked at again; of x, of y.
  double limits[2] = {kInfinity, kInfinity};
  /// Where wanted, the shares of all anchors are appended.
  std::vector<double>* shares[2] = {nullptr, nullptr};

  /// Adds up loss and probability of the anchors of both directions.
  void add(std::span<const Vertex> members, double loss[2], double probability[2]) {
    if (fast_)
      run(members);
    else
      slow_.run(members);
    for (std::size_t r = 0; r < members.size(); ++r)
      for (int d = 0; d < 2; ++d) {
        const double log_sum = fast_
                                   ? (sums_[d][r] > 0 ? log_of(sums_[d][r]) + blocks_[0].unit() : -kInfinity)
                                   : (d == 0 ? slow_.x : slow_.y)[r].exponentials.value();
        double value = model_.loss(log_sum, members[r]), kept = exp_of(-value);
        if (shares[d] != nullptr) shares[d]->push_back(1 - kept);
        if (1 - kept >= limits[d]) {
          DoubtfulAnchor anchor{members[r], log_sum, 0};
          sharpener(d).sharpen({&anchor, 1}, members);
          value = model_.loss(anchor.log_sum, members[r]);
          kept = exp_of(-value);
        }
        loss[d] += value;
        probability[d] += kept;
      }
  }

 private:
  Sharpener& sharpener(int d) {
    if (!sharpeners_[d]) sharpeners_[d].emplace(model_.sharpener(d == 0 ? Side::x : Side::y));
    return *sharpeners_[d];
  }

  void run(std::span<const Vertex> members) {
    for (std::vector<double>& sums : sums_) sums.assign(members.size(), 0);
    rows_.resize(members.size());
    const std::size_t a_band = band_rows(members.size());
    for (std::size_t p = 0; p < blocks_.size(); ++p) {
      const Entry& entry = model_.parts_[p];
      cols_.assign(members.size(), 0);
      for (std::size_t first = 0; first < members.size(); first += a_band)
        blocks_[p].sums({members, first, std::min(a_band, members.size() - first)},
                        {rows_.data() + first, cols_.data(), nullptr, nullptr, nullptr, nullptr});
      for (std::size_t r = 0; r < members.size(); ++r) {
        sums_[entry.rows == Side::y][r] += rows_[r];
        if (entry.cols != Side::none) sums_[entry.cols == Side::y][r] += cols_[r];
      }
    }
  }

  const LossModel& model_;
  std::vector<BlockTerms> blocks_;
  BatchTerms slow_;
  bool fast_ = true;
  std::vector<double> sums_[2], rows_, cols_;
  std::optional<Sharpener> sharpeners_[2];
};

/// The limits of doubt that the order of a seed shows.
std::array<double, 2> LossModel::trial_limits(std::size_t batch_size, std::uint64_t seed) const {
  const std::size_t n = positives_.size();
  const KernelOnThread ready(kernel_);
  BatchSums sums(*this, batch_size);
  std::vector<double> shares[2];
  for (int d = 0; d < 2; ++d) sums.shares[d] = &shares[d];
  const std::vector<Vertex> order = order_random(n, seed).old_of_new;
  double loss[2] = {}, probability[2] = {};
  for (std::size_t first = 0; first < n; first += batch_size) {
    sums.add(std::span(order).subspan(first, std::min(batch_size, n - first)), loss, probability);
    run_.check_stop();
  }
  std::array<double, 2> limits;
  for (int d = 0; d < 2; ++d)
    limits[d] = find_doubt_limit(shares[d], moved(), loss[d] / static_cast<double>(n),
                                 most_in_doubt(n, batch_size) / kTrialShare);
  return limits;
}

TrialLoss LossModel::of_random(std::size_t batch_size, std::uint64_t seed) const {
  const std::size_t n = positives_.size(), trials = options_.random_trials;
  std::vector<std::uint64_t> seeds(trials);
  Random stream(seed);
  for (std::uint64_t& trial : seeds) trial = stream.next();
  std::vector<double> losses(trials), probabilities(trials);
  const std::array<double, 2> limits =
      moved() > 0 ? trial_limits(batch_size, seeds[0]) : std::array{kInfinity, kInfinity};
  std::vector<std::unique_ptr<BatchSums>> workers(std::max(run_.threads, 1u));
  parallel_for(
      run_, trials, 1,
      [&](std::size_t trial, std::size_t, unsigned worker) {
        if (!workers[worker]) {
          workers[worker] = std::make_unique<BatchSums>(*this, batch_size);
          std::copy(limits.begin(), limits.end(), workers[worker]->limits);
        }
        const KernelOnThread ready(kernel_);
        const std::vector<Vertex> order = order_random(n, seeds[trial]).old_of_new;
        double loss[2] = {}, probability[2] = {};
        for (std::size_t first = 0; first < n; first += batch_size)
          workers[worker]->add(std::span(order).subspan(first, std::min(batch_size, n - first)), loss,
                               probability);
        const auto chosen = [&](const double* sum) {
          const ByDirection mean{sum[0], sum[1], mean_of(sum[0], sum[1])};
          return mean[options_.direction] / static_cast<double>(n);
        };
        losses[trial] = chosen(loss);
        probabilities[trial] = chosen(probability);
      },
      Report::progress);
  TrialLoss result;
  for (std::size_t t = 0; t < trials; ++t) {
    result.mean += losses[t] / static_cast<double>(trials);
    result.probability += probabilities[t] / static_cast<double>(trials);
  }
  for (const double value : losses) result.deviation += (value - result.mean) * (value - result.mean);
  result.deviation = trials > 1 ? std::sqrt(result.deviation / static_cast<double>(trials - 1)) : 0;
  return result;
}

}  // namespace gcbs
