// Rounding errors of int16 rows are divided by the temperature. In a mean over many anchors they cancel;
// where a loss comes from a few anchors only, such as a handful of duplicates among rows far from each other,
// they do not. Those anchors are looked at again.
//
// An anchor's error is at most its negatives' share of the softmax times `moved`; errors of different anchors
// are independent, so that together they are the root of the sum of their squares. Anchors are taken from the
// worst on until the rest is below a quarter of what is promised, 1e-4 max(1e-3, L): most often none at all.
// Anchors that are about as bad are taken all or none: errors are in the shares too, and to put right only
// those that came out large would make the mean small.
//
// An anchor's terms above a thousandth of its sum are evaluated by the definition and take the place of what
// int16 said. Cost: an int16 product a term and pair looked at, and at most 1,000 evaluations an anchor.
// Determinism: integers, then float64 in the order of columns.
#include "loss/sharpen.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace gcbs {
namespace {

constexpr double kNearlyEqual = 1e-3;  // int16 values are nearer

constexpr double kPromised = 1e-4, kLeastLoss = 1e-3, kPartOfPromise = 0.25;
constexpr double kLogLeastShare = -6.907755278982137;  // log 0.001
constexpr std::size_t kLeastInDoubt = 2048, kTermsARow = 128;
constexpr std::size_t kTogether = 256;  // columns that stay in L2 while anchors go past them

/// To a quarter of a power of two.
double round_down(double share) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(share) >> 50 << 50);
}

}  // namespace

std::size_t most_in_doubt(std::size_t anchors, std::size_t others) noexcept {
  return std::min(anchors, std::max(kLeastInDoubt, kTermsARow * anchors / std::max<std::size_t>(others, 1)));
}

double find_doubt_limit(std::span<const double> shares, double moved, double loss, std::size_t most) {
  const double allowed =
      kPartOfPromise * kPromised * std::max(kLeastLoss, loss) * static_cast<double>(shares.size()) / moved;
  double squares = 0;
  for (const double share : shares) squares += share * share;
  if (!(squares > allowed * allowed)) return kInfinity;
  std::vector<double> ascending(shares.begin(), shares.end());
  std::sort(ascending.begin(), ascending.end());
  std::size_t rest = 0;
  for (squares = 0; rest < ascending.size(); ++rest) {
    squares += ascending[rest] * ascending[rest];
    if (squares > allowed * allowed) break;
  }
  for (; rest < ascending.size(); ++rest) {
    const double limit = std::max(round_down(ascending[rest]), std::numeric_limits<double>::min());
    const auto first = std::lower_bound(ascending.begin(), ascending.end(), limit);
    if (static_cast<std::size_t>(ascending.end() - first) <= most) return limit;
    while (rest + 1 < ascending.size() && round_down(ascending[rest + 1]) <= limit) ++rest;
  }
  return kInfinity;
}

Sharpener::Sharpener(std::vector<Source> sources, const PairJudge& judge, double temperature,
                     const Kernel& kernel, const RunContext& run)
    : sources_(std::move(sources)),
      judge_(judge),
      temperature_(temperature),
      kernel_(kernel),
      run_(run),
      products_(kTogether) {
  // Products commute: the definition of a column against rows has the same bits.
  for (const auto& [part, by_column] : sources_)
    definitions_.push_back(by_column ? Definition(*part->right, *part->left)
                                     : Definition(*part->left, *part->right));
}

void Sharpener::add_large(const Source& source, Definition& definition, const DoubtfulAnchor& anchor,
                          std::span<const Vertex> others, Large& large) {
  const LossPart& part = *source.part;
  const Vertex i = anchor.pair;
  pairs_looked_at_.clear();
  for (const Vertex j : others)
    pairs_looked_at_.push_back(source.by_column ? FinePair{j, i} : FinePair{i, j});
  kernel_.fine({part.fine.x.values.data(), part.fine.y.values.data(), part.fine.x.stride,
                pairs_looked_at_.data(), others.size(), products_.data()});
  near_.clear();
  exact_pairs_.clear();
  for (std::size_t p = 0; p < others.size(); ++p) {
    const auto [row, col] = pairs_looked_at_[p];
    const double near =
        part.value(static_cast<float>(products_[p]), row, col) / temperature_ - anchor.log_sum;
    if (!(near > kLogLeastShare)) continue;
    const Vertex j = others[p];
    if (part.paired && !judge_.admits(i, j)) continue;
    near_.push_back(near);
    exact_pairs_.push_back({i, j});
  }
  exact_.resize(near_.size());
  definition.evaluate(exact_pairs_, exact_);
  for (std::size_t p = 0; p < near_.size(); ++p) {
    large.before += exp_of(near_[p]);
    large.after += exp_of(exact_[p] / temperature_ - anchor.log_sum);
    large.most = std::max(large.most, exact_[p]);
  }
}

void Sharpener::sharpen(std::span<DoubtfulAnchor> anchors, std::span<const Vertex> others) {
  std::vector<Large> large(anchors.size());
  for (std::size_t first = 0; first < others.size(); first += kTogether) {
    const std::span<const Vertex> some = others.subspan(first, std::min(kTogether, others.size() - first));
    for (std::size_t s = 0; s < sources_.size(); ++s)
      for (std::size_t a = 0; a < anchors.size(); ++a)
        add_large(sources_[s], definitions_[s], anchors[a], some, large[a]);
    run_.check_stop();
  }
  for (std::size_t a = 0; a < anchors.size(); ++a) {
    const double sum = std::max(0.0, 1 - large[a].before) + large[a].after;
    // At a temperature so low that exponents of errors leave float64, nothing is gained.
    if (!(sum >= std::numeric_limits<double>::min() && sum < kInfinity)) continue;
    anchors[a].log_sum += log_of(sum);
    // Of extra columns, which are not looked at here, one may be larger.
    if (large[a].most > anchors[a].most - kNearlyEqual) anchors[a].most = large[a].most;
  }
}

}  // namespace gcbs
