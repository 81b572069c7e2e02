// Global sums band by band, in parallel, summed in an order that does not depend on who did what. Batches are
// in order_loss.cpp, random ones in random_loss.cpp.
#include "loss/loss_model.h"

#include <memory>
#include <numeric>

namespace gcbs {
namespace {

constexpr std::size_t kAnchorsTogether = 8;

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

// An exponent's parts, 4.2, 1.1 and 2.1 at most before the division, are rounded to float32 six times: 18
// units of 2^-24.
double LossModel::moved() const noexcept {
  double most = 0;
  for (const auto& [part, rows, cols] : parts_)
    if (!part.is_exact()) most = std::max(most, part.worst_bound() + 0x1p-19);
  return most / options_.temperature;
}

Sharpener LossModel::sharpener(Side side) const {
  std::vector<Sharpener::Source> sources;
  for (const auto& [part, rows, cols] : parts_) {
    if (rows == side) sources.push_back({&part, false});
    if (cols == side) sources.push_back({&part, true});
  }
  return {std::move(sources), judge_, options_.temperature, kernel_, run_};
}

void LossModel::sharpen(Anchors& anchors, Side side) const {
  const std::size_t n = positives_.size();
  std::vector<double> shares(n);
  double mean = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double value = loss(anchors.log_sum[i], i);
    shares[i] = 1 - exp_of(-value);
    mean += value / static_cast<double>(n);
  }
  const double limit = find_doubt_limit(shares, moved(), mean, most_in_doubt(n, n));
  std::vector<DoubtfulAnchor> doubtful;
  for (std::size_t i = 0; i < n; ++i)
    if (shares[i] >= limit) doubtful.push_back({static_cast<Vertex>(i), anchors.log_sum[i], anchors.most[i]});
  const std::vector<Vertex> everyone = all_rows(n);
  parallel_for(run_, doubtful.size(), kAnchorsTogether, [&](std::size_t begin, std::size_t end, unsigned) {
    const KernelOnThread ready(kernel_);
    sharpener(side).sharpen(std::span(doubtful).subspan(begin, end - begin), everyone);
  });
  for (const auto& [pair, log_sum, most] : doubtful) {
    anchors.log_sum[pair] = log_sum;
    anchors.most[pair] = std::max(most, positives_[pair]);
  }
}

GlobalLoss LossModel::global() const {
  GlobalLoss global{no_negatives(positives_, run_), no_negatives(positives_, run_), {}, {}, 0};
  for (const Entry& entry : parts_) {
    if (block_terms(entry.part, 1).is_fast())
      add_fast(entry, global);
    else
      add_slow(entry, global);
  }
  if (moved() > 0) {
    // |log sum| moves no further than its exponents do. Float32 sums add 1e-5.
    global.error_bound = moved() + 1e-5;
    sharpen(global.x, Side::x);
    sharpen(global.y, Side::y);
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

}  // namespace gcbs
