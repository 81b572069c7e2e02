// The losses by the letter: all similarities in float64, every rule of contract C10 asked pair by pair, sums
// in long double.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "base/random.h"
#include "gcbs/graph.h"
#include "loss/loss_model.h"
#include "support/kernels.h"
#include "support/matrices.h"

namespace gcbs::testing {

/// Three matrices of one kind and their rows.
struct Data {
  Matrix x, y, z;
  RunContext run;
  Rows rows_x, rows_y, rows_z;

  Data(const std::string& kind, std::size_t rows, std::size_t cols, unsigned threads = 1,
       std::uint64_t seed = 1)
      : x(make_matrix(kind, rows, cols, 3 * seed)),
        y(make_matrix(kind, rows, cols, 3 * seed + 1)),
        z(make_matrix(kind, rows, cols, 3 * seed + 2)),
        run{threads, nullptr, nullptr},
        rows_x(x.view("x"), false, run),
        rows_y(y.view("y"), false, run),
        rows_z(z.view("z"), false, run) {}
  Data(const Data&) = delete;
  Data& operator=(const Data&) = delete;
};

inline std::vector<Vertex> in_order(std::size_t count) {
  std::vector<Vertex> rows(count);
  std::iota(rows.begin(), rows.end(), Vertex{0});
  return rows;
}

inline std::vector<Vertex> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<Vertex> rows = in_order(count);
  Random random(seed);
  for (std::size_t i = count; i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
  return rows;
}

inline std::vector<std::int64_t> random_ids(std::size_t count, std::uint64_t below, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int64_t> ids(count);
  for (std::int64_t& id : ids) id = static_cast<std::int64_t>(random.below(below)) - 3;
  return ids;
}

/// Whether i and j, of different pairs, may be negatives of each other. s: N x N, of X and Y.
inline bool admits(const FilterOptions& filter, const std::vector<double>& s, std::size_t n, std::size_t i,
                   std::size_t j) {
  if (i == j) return false;
  for (const auto& ids : filter.groups)
    if (ids[i] == ids[j]) return false;
  for (const std::size_t pair : {i, j}) {
    const double p = s[pair * n + pair];
    for (const double value : {s[i * n + j], s[j * n + i]}) {
      if (filter.relative_margin && value > p - *filter.relative_margin * std::abs(p)) return false;
      if (filter.absolute_margin && value > p - *filter.absolute_margin) return false;
      if (filter.max_score && value > *filter.max_score) return false;
    }
  }
  return true;
}

/// What one anchor sees.
struct Seen {
  std::vector<double> values;

  double least() const {
    return values.empty() ? kInfinity : *std::min_element(values.begin(), values.end());
  }
  double most() const {
    return values.empty() ? -kInfinity : *std::max_element(values.begin(), values.end());
  }
  double total() const { return std::accumulate(values.begin(), values.end(), 0.0); }
  double log_sum(double temperature) const {
    if (values.empty()) return -kInfinity;
    const long double top = static_cast<long double>(most()) / temperature;
    long double sum = 0;
    for (const double s : values)
      sum += std::exp(static_cast<double>(static_cast<long double>(s) / temperature - top));
    return static_cast<double>(top + std::log(sum));
  }
};

/// Filters of every sort. Scores lie where similarities are, some of them exactly there.
inline std::vector<std::pair<std::string, FilterOptions>> many_filters(std::size_t n,
                                                                       const std::vector<double>& s) {
  std::vector<std::pair<std::string, FilterOptions>> list{{"none", {}}};
  const auto add = [&](const std::string& name, auto&& set) {
    set(list.emplace_back(name, FilterOptions{}).second);
  };
  const double high = s[n / 2 * n + n / 3];  // a similarity itself: at the limit is not over it
  add("groups", [&](FilterOptions& f) { f.groups = {random_ids(n, n / 4 + 1, 1)}; });
  add("two lists", [&](FilterOptions& f) { f.groups = {random_ids(n, n, 2), random_ids(n, n / 3 + 1, 3)}; });
  add("giant group", [&](FilterOptions& f) {
    f.groups = {random_ids(n, n, 4)};
    for (std::size_t i = 0; i < n; i += i % 3 == 0 ? 1 : 2) f.groups[0][i] = 7;
  });
  add("one group", [&](FilterOptions& f) { f.groups = {random_ids(n, 1, 4)}; });
  add("relative 0", [&](FilterOptions& f) { f.relative_margin = 0; });
  add("relative", [&](FilterOptions& f) { f.relative_margin = 0.3; });
  add("absolute", [&](FilterOptions& f) { f.absolute_margin = 0.125; });
  add("negative absolute", [&](FilterOptions& f) { f.absolute_margin = -0.25; });
  add("max at a value", [&](FilterOptions& f) { f.max_score = high; });
  add("all", [&](FilterOptions& f) {
    f.groups = {random_ids(n, n / 4 + 1, 5)};
    f.relative_margin = 0.05;
    f.absolute_margin = -0.1;
    f.max_score = std::max(high, 0.5);
  });
  return list;
}

/// A model's numbers.
class BruteLoss {
 public:
  BruteLoss(const Data& data, bool negatives, const LossOptions& options)
      : n_(data.x.rows), options_(options), xy_(all_similarities(data.x, data.y)) {
    if (negatives) xz_ = all_similarities(data.x, data.z);
    if (options.form == Form::simclr) {
      xx_ = all_similarities(data.x, data.x);
      yy_ = all_similarities(data.y, data.y);
    }
  }

  struct Batch {
    std::vector<Seen> x, y, pairs;  ///< by place
  };
  Batch batch(std::span<const Vertex> members) const {
    Batch batch{std::vector<Seen>(members.size()), std::vector<Seen>(members.size()),
                std::vector<Seen>(members.size())};
    for (std::size_t r = 0; r < members.size(); ++r)
      for (const Vertex j : members) {
        const Vertex i = members[r];
        if (!xz_.empty()) batch.x[r].values.push_back(xz_[i * n_ + j]);
        if (!admits(options_.filter, xy_, n_, i, j)) continue;
        batch.pairs[r].values.push_back(xy_[i * n_ + j]);
        batch.x[r].values.push_back(xy_[i * n_ + j]);
        batch.y[r].values.push_back(xy_[j * n_ + i]);
        if (!xx_.empty()) batch.x[r].values.push_back(xx_[i * n_ + j]);
        if (!yy_.empty()) batch.y[r].values.push_back(yy_[i * n_ + j]);
      }
    return batch;
  }

  /// One batch of everything; kept, as it is asked for often.
  const Batch& all_rows() const {
    if (all_.x.empty()) all_ = batch(in_order(n_));
    return all_;
  }

  double positive(std::size_t i) const { return xy_[i * n_ + i]; }
  double loss(const Seen& seen, std::size_t i) const {
    const long double t = static_cast<long double>(seen.log_sum(options_.temperature)) -
                          static_cast<long double>(positive(i)) / options_.temperature;
    return static_cast<double>(t > 0 ? t + std::log1p(std::exp(-t)) : std::log1p(std::exp(t)));
  }

  /// As LossModel::of_order; with one batch of all rows also as LossModel::global.
  OrderLoss of_order(std::span<const Vertex> order, std::size_t size) const {
    const Batch& all = all_rows();
    OrderLoss result;
    result.qbap = kInfinity;
    const auto n = static_cast<double>(n_), tau = options_.temperature;
    for (std::size_t first = 0; first < order.size(); first += size) {
      const auto members = order.subspan(first, std::min(size, order.size() - first));
      const Batch seen = batch(members);
      ByDirection loss, probability;
      for (std::size_t r = 0; r < members.size(); ++r) {
        const Vertex i = members[r];
        result.qbap = std::min({result.qbap, positive(i), seen.pairs[r].least()});
        result.qap += 2 * (positive(i) + seen.pairs[r].total());
        for (const Direction d : {Direction::x, Direction::y}) {
          const Seen &mine = d == Direction::x ? seen.x[r] : seen.y[r],
                     &whole = d == Direction::x ? all.x[i] : all.y[i];
          const double value = this->loss(mine, i);
          (d == Direction::x ? loss.x : loss.y) += value;
          (d == Direction::x ? probability.x : probability.y) += std::exp(-value);
          const double share = options_.direction == Direction::both ? 0.5 : options_.direction == d ? 1 : 0;
          const double s = positive(i), least = std::min(s, mine.least()), most = std::max(s, mine.most());
          const double top = std::max(s, whole.most());
          const double log_batch = std::log(static_cast<double>(mine.values.size() + 1)),
                       log_all = std::log(static_cast<double>(whole.values.size() + 1));
          result.bounds.theorem1 += share / n * ((top - least) / tau + log_all - log_batch);
          result.bounds.theorem2 += share / n * ((top - most) / tau + log_all);
          result.bounds.lemma2 += share / n * ((least - s) / tau + log_batch);
          result.bounds.lemma3 += share / n * ((most - s) / tau);
        }
      }
      loss.both = (loss.x + loss.y) / 2;
      probability.both = (probability.x + probability.y) / 2;
      const auto count = static_cast<double>(members.size());
      result.batches.push_back(
          {loss[options_.direction] / count, 1 - probability[options_.direction] / count});
      for (double ByDirection::*d : {&ByDirection::x, &ByDirection::y, &ByDirection::both}) {
        result.loss.*d += loss.*d / n;
        result.probability.*d += probability.*d / n;
      }
    }
    return result;
  }

 private:
  std::size_t n_;
  LossOptions options_;
  std::vector<double> xy_, xz_, xx_, yy_;
  mutable Batch all_;
};

}  // namespace gcbs::testing
