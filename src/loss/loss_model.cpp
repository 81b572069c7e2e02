// Global sums band by band, batches one by one, trials one by one: each in parallel, each summed in an order
// that does not depend on who did what.
#include "loss/loss_model.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "base/random.h"
#include "loss/extra_terms.h"
#include "ordering/orders.h"

namespace gcbs {
namespace {

std::vector<Vertex> all_rows(std::size_t count) {
  std::vector<Vertex> rows(count);
  std::iota(rows.begin(), rows.end(), Vertex{0});
  return rows;
}

Anchors no_negatives(const Array<double>& positives, const RunContext& run) {
  const std::size_t n = positives.size();
  Anchors anchors{Array<double>(n, -kInfinity, run.meter), Array<double>(n, run.meter),
                  Array<double>(n, 1.0, run.meter)};
  std::copy(positives.begin(), positives.end(), anchors.most.begin());
  return anchors;
}

void add_terms(Anchors& anchors, std::size_t i, double log_sum, double most, double count) {
  LogSum both;
  if (anchors.log_sum[i] > -kInfinity) both.add(anchors.log_sum[i]);
  if (log_sum > -kInfinity) both.add(log_sum);
  anchors.log_sum[i] = both.value();
  anchors.most[i] = std::max(anchors.most[i], most);
  anchors.count[i] += count;
}

double mean_of(double x, double y) { return (x + y) / 2; }

}  // namespace

LossModel::LossModel(const Rows& x, const Rows& y, const Rows* negatives, const LossOptions& options,
                     const Kernel& kernel, const RunContext& run, std::size_t largest_table)
    : run_(run),
      options_(options),
      kernel_(kernel),
      positives_(positives_of(x, y, run)),
      judge_(options.filter, x, y, run) {
  const auto add = [&](const Rows& left, const Rows& right, bool paired, Side rows, Side cols) {
    parts_.push_back({make_part(left, right, paired, largest_table, run), rows, cols});
  };
  add(x, y, true, Side::x, Side::y);
  if (negatives != nullptr) add(x, *negatives, false, Side::x, Side::none);
  if (options.form == Form::simclr) {
    add(x, x, true, Side::x, Side::none);
    add(y, y, true, Side::y, Side::none);
  }
  for (const Judged& kind : judge_.judged()) {
    const auto same = [&](const Entry& entry) {
      return entry.part.paired && entry.part.left == kind.left && entry.part.right == kind.right;
    };
    const auto found = std::find_if(parts_.begin(), parts_.end(), same);
    if (found == parts_.end())
      further_.push_back(
          std::make_unique<const LossPart>(make_part(*kind.left, *kind.right, true, largest_table, run)));
    judged_.push_back({found == parts_.end() ? further_.back().get() : &found->part, kind.both_ways});
  }
}

BlockTerms LossModel::block_terms(const LossPart& part, std::size_t largest_batch) const {
  return BlockTerms(part, judged_, judge_.admissible(), options_.temperature, kernel_, largest_batch, run_);
}

/// Columns' sums are kept band by band and added in the order of bands; what does not depend on an order
/// (the largest, the count) is kept worker by worker.
void LossModel::add_fast(const Entry& entry, GlobalLoss& global) const {
  const std::size_t n = positives_.size(), a_band = band_rows(n), bands = (n + a_band - 1) / a_band;
  const std::vector<Vertex> members = all_rows(n);
  Array<double> row_sums(n, run_.meter), row_most(n, run_.meter);
  Array<std::uint32_t> row_count(n, run_.meter);
  Array<double> col_sums(n * bands, 0.0, run_.meter);
  struct Worker {
    BlockTerms terms;
    Array<double> most;
    Array<std::uint32_t> count;
  };
  std::vector<std::unique_ptr<Worker>> workers(std::max(run_.threads, 1u));
  parallel_for(
      run_, bands, 1,
      [&](std::size_t band, std::size_t, unsigned worker) {
        if (!workers[worker])
          workers[worker] = std::unique_ptr<Worker>(
              new Worker{block_terms(entry.part, n), Array<double>(n, 0.0, run_.meter),
                         Array<std::uint32_t>(n, std::uint32_t{0}, run_.meter)});
        Worker& mine = *workers[worker];
        const KernelOnThread ready(kernel_);
        const std::size_t first = band * a_band, count = std::min(a_band, n - first);
        mine.terms.sums({members, first, count},
                        {row_sums.data() + first, col_sums.data() + band * n, row_most.data() + first,
                         mine.most.data(), row_count.data() + first, mine.count.data()});
      },
      Report::progress);
  double unit = 0;
  for (const auto& worker : workers)
    if (worker) unit = worker->terms.unit();
  const auto add = [&](Anchors& anchors, std::size_t i, double sum, double most, double count) {
    if (count == 0) return;
    add_terms(anchors, i, log_of(sum) + unit, (log_of(most) + unit) * options_.temperature, count);
  };
  for (std::size_t i = 0; i < n; ++i) {
    add(entry.rows == Side::x ? global.x : global.y, i, row_sums[i], row_most[i], row_count[i]);
    if (entry.cols == Side::none) continue;
    double sum = 0, most = 0, count = 0;
    for (std::size_t band = 0; band < bands; ++band) sum += col_sums[band * n + i];
    for (const auto& worker : workers) {
      if (!worker) continue;
      most = std::max(most, worker->most[i]);
      count += worker->count[i];
    }
    add(entry.cols == Side::x ? global.x : global.y, i, sum, most, count);
  }
}

/// Bands in rounds of as many as there are workers: a round's columns are added in the order of bands, so
/// that no more of them are held than are worked at.
void LossModel::add_slow(const Entry& entry, GlobalLoss& global) const {
  const std::size_t n = positives_.size(), a_band = band_rows(n), bands = (n + a_band - 1) / a_band;
  const std::vector<Vertex> members = all_rows(n);
  MeteredVector<Terms> rows(n, run_.meter), sums(n, run_.meter);
  std::vector<MeteredVector<Terms>> cols(std::min<std::size_t>(bands, std::max(run_.threads, 1u)),
                                         MeteredVector<Terms>(run_.meter));
  for (std::size_t round = 0; round < bands; round += cols.size()) {
    const std::size_t count = std::min(cols.size(), bands - round);
    parallel_for(run_, count, 1, [&](std::size_t b, std::size_t, unsigned) {
      const KernelOnThread ready(kernel_);
      const std::size_t first = (round + b) * a_band;
      cols[b].assign(n, {});
      block_terms(entry.part, n)
          .terms({members, first, std::min(a_band, n - first)}, rows.data() + first, cols[b].data());
    });
    for (std::size_t b = 0; b < count; ++b)
      for (std::size_t i = 0; i < n; ++i) sums[i].add(cols[b][i]);
    if (run_.observer != nullptr)
      run_.observer->advance(static_cast<double>(round + count), static_cast<double>(bands));
  }
  const auto add = [&](Anchors& anchors, std::size_t i, const Terms& terms) {
    add_terms(anchors, i, terms.exponentials.value(), terms.most, static_cast<double>(terms.count));
  };
  for (std::size_t i = 0; i < n; ++i) {
    add(entry.rows == Side::x ? global.x : global.y, i, rows[i]);
    if (entry.cols != Side::none) add(entry.cols == Side::x ? global.x : global.y, i, sums[i]);
  }
}

GlobalLoss LossModel::global() const {
  GlobalLoss global{no_negatives(positives_, run_), no_negatives(positives_, run_), {}, {}, 0};
  for (const Entry& entry : parts_) {
    if (block_terms(entry.part, 1).is_fast())
      add_fast(entry, global);
    else
      add_slow(entry, global);
    if (entry.part.is_exact()) continue;
    // |log sum| moves no further than its exponents do. An exponent's parts, 4.2, 1.1 and 2.1 at most before
    // the division, are rounded to float32 six times: 18 units of 2^-24. Float32 sums add 1e-5.
    const double moved = (entry.part.worst_bound() + 0x1p-19) / options_.temperature;
    global.error_bound = std::max(global.error_bound, moved + 1e-5);
  }
  const auto n = static_cast<double>(positives_.size());
  for (std::size_t i = 0; i < positives_.size(); ++i) {
    const double x = loss(global.x.log_sum[i], i), y = loss(global.y.log_sum[i], i);
    global.loss.x += x / n;
    global.loss.y += y / n;
    global.probability.x += exp_of(-x) / n;
    global.probability.y += exp_of(-y) / n;
  }
  global.loss.both = mean_of(global.loss.x, global.loss.y);
  global.probability.both = mean_of(global.probability.x, global.probability.y);
  return global;
}

/// The terms of one batch after the other, all parts together.
class LossModel::BatchTerms {
 public:
  BatchTerms(const LossModel& model, std::size_t batch_size) : model_(model) {
    for (const Entry& entry : model.parts_) blocks_.push_back(model.block_terms(entry.part, batch_size));
  }

  std::vector<Terms> x, y;   ///< by place in the batch
  std::vector<Terms> pairs;  ///< of X and Y alone

  void run(std::span<const Vertex> members) {
    x.assign(members.size(), {});
    y.assign(members.size(), {});
    rows_.resize(members.size());
    const std::size_t a_band = band_rows(members.size());
    for (std::size_t p = 0; p < blocks_.size(); ++p) {
      const Entry& entry = model_.parts_[p];
      cols_.assign(members.size(), {});
      for (std::size_t first = 0; first < members.size(); first += a_band)
        blocks_[p].terms({members, first, std::min(a_band, members.size() - first)}, rows_.data() + first,
                         cols_.data());
      if (p == 0) pairs = rows_;
      add(rows_, entry.rows);
      add(cols_, entry.cols);
    }
  }

 private:
  void add(const std::vector<Terms>& terms, Side side) {
    if (side == Side::none) return;
    std::vector<Terms>& sums = side == Side::x ? x : y;
    for (std::size_t r = 0; r < terms.size(); ++r) sums[r].add(terms[r]);
  }

  const LossModel& model_;
  std::vector<BlockTerms> blocks_;
  std::vector<Terms> rows_, cols_;
};

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
              const double value = loss(mine.exponentials.value(), i);
              const double least = std::min(s, mine.least), most = std::max(s, mine.most);
              const double log_batch = log_of(static_cast<double>(mine.count) + 1),
                           log_all = log_of(all.count[i]);
              sum.loss[d] += value;
              sum.probability[d] += exp_of(-value);
              sum.bounds[d].theorem1 += (all.most[i] - least) / tau + (log_all - log_batch);
              sum.bounds[d].theorem2 += (all.most[i] - most) / tau + log_all;
              sum.bounds[d].lemma2 += (least - s) / tau + log_batch;
              sum.bounds[d].lemma3 += (most - s) / tau;
            }
          }
        }
      },
      Report::progress);

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

/// Only the losses of one batch after the other, as fast as the machine can.
class LossModel::BatchSums {
 public:
  BatchSums(const LossModel& model, std::size_t batch_size) : model_(model), slow_(model, batch_size) {
    for (const Entry& entry : model.parts_) {
      blocks_.push_back(model.block_terms(entry.part, batch_size));
      fast_ = fast_ && blocks_.back().is_fast();
    }
  }

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
        const double value = model_.loss(log_sum, members[r]);
        loss[d] += value;
        probability[d] += exp_of(-value);
      }
  }

 private:
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
};

TrialLoss LossModel::of_random(std::size_t batch_size, std::uint64_t seed) const {
  const std::size_t n = positives_.size(), trials = options_.random_trials;
  std::vector<std::uint64_t> seeds(trials);
  Random stream(seed);
  for (std::uint64_t& trial : seeds) trial = stream.next();
  std::vector<double> losses(trials), probabilities(trials);
  std::vector<std::unique_ptr<BatchSums>> workers(std::max(run_.threads, 1u));
  parallel_for(
      run_, trials, 1,
      [&](std::size_t trial, std::size_t, unsigned worker) {
        if (!workers[worker]) workers[worker] = std::make_unique<BatchSums>(*this, batch_size);
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
