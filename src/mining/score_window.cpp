// Every rule on s keeps an interval, so that a row's rules together are two numbers.
//
// sentence-transformers removes s < min_score, s > max_score, s > p - |p| relative_margin and
// s + absolute_margin > p; the same comparisons are made here, in float64.
#include "mining/score_window.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "similarity/definition.h"

namespace gcbs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double ceiling_of(const MiningOptions& options, double positive) {
  double ceiling = options.max_score.value_or(kInfinity);
  if (options.relative_margin)
    ceiling = std::min(ceiling, positive - std::abs(positive) * *options.relative_margin);
  if (options.absolute_margin)
    ceiling = std::min(ceiling, largest_within_margin(positive, *options.absolute_margin));
  return ceiling;
}

}  // namespace

// s + margin grows with s, rounding included: bisection, down to neighbouring numbers.
double largest_within_margin(double positive, double margin) {
  if (margin == 0) return positive;
  double within = positive - margin - 1, beyond = positive - margin + 1;
  for (;;) {
    const double middle = within + (beyond - within) / 2;
    if (middle <= within || middle >= beyond) return within;
    (middle + margin <= positive ? within : beyond) = middle;
  }
}

void ScoreWindow::lower_ceiling(std::span<const double> highest, const RunContext& run) {
  if (highest.empty()) return;
  if (ceiling.empty()) ceiling = Array<double>(highest.size(), kInfinity, run.meter);
  for (std::size_t i = 0; i < highest.size(); ++i) ceiling[i] = std::min(ceiling[i], highest[i]);
}

ScoreWindow find_score_window(const Rows& x, const Rows& y, const Exclusions& exclusions,
                              const MiningOptions& options, const RunContext& run) {
  ScoreWindow window{options.min_score ? std::nextafter(*options.min_score, -kInfinity) : -kInfinity, {}};
  const bool by_positive = options.relative_margin || options.absolute_margin;
  if (!by_positive && !options.max_score) return window;
  window.ceiling = Array<double>(x.count(), run.meter);
  constexpr std::size_t kGrain = 256;
  parallel_for(run, x.count(), kGrain, [&](std::size_t begin, std::size_t end, unsigned) {
    Definition definition(x, y);
    for (std::size_t i = begin; i < end; ++i) {
      const FinePair pair{static_cast<Vertex>(i), exclusions.positive(i)};
      double positive = 0;
      if (by_positive) definition.evaluate({&pair, 1}, {&positive, 1});
      window.ceiling[i] = ceiling_of(options, positive);
    }
  });
  return window;
}

}  // namespace gcbs
