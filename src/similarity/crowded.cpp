// Crowded thresholds: counting instead of listing.
//
// The M + 1 largest values end in `lower`, the M largest in `upper`; t lies between the two. With
// sampled values as pivots, passes that only count pairs above a pivot close in on `lower`. Either it
// is a pivot (many ties: a sample is sure to hold it), or few values are left between two pivots and
// the ordinary selection finishes. Equal rows are found first: they are what makes values tie, and
// their sums need not be taken again.
#include "similarity/crowded.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/random.h"
#include "gcbs/error.h"
#include "similarity/edge_sieve.h"
#include "similarity/quantile.h"
#include "similarity/select.h"

namespace gcbs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kPivots = 1 << 15, kRounds = 64;

/// Distinct exact values of random pairs, ascending.
std::vector<double> draw_pivots(const JoinInput& input, std::uint64_t seed) {
  Random random(seed);
  std::vector<FinePair> pairs(kPivots);
  for (FinePair& pair : pairs)
    pair = {
        static_cast<Vertex>(random.below(input.fine.x.count)),
        static_cast<Vertex>(random.below(input.filter != nullptr ? input.y.count() : input.fine.y.count))};
  std::vector<double> values(kPivots);
  input.definition().evaluate(pairs, values);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

/// The smallest value above t among all pairs; `count` pairs are above it.
double least_above(const JoinInput& input, double t, std::uint64_t count, const RunContext& run) {
  const JoinResult join = join_rows(input, {t, t}, count, run);
  double least = kInfinity;
  for (const Undecided& pair : join.undecided) least = std::min(least, pair.value);
  Definition definition = input.definition();
  for (const EdgeBlock& block : join.blocks) {
    const Vertex* columns = block.columns.data();
    for (std::size_t r = 0; r < block.counts.size(); ++r) {
      std::vector<FinePair> pairs;
      for (std::size_t c = 0; c < block.counts[r]; ++c)
        pairs.push_back({static_cast<Vertex>(block.first_row + r), *columns++});
      std::vector<double> values(pairs.size());
      definition.evaluate(pairs, values);
      for (const double value : values) least = std::min(least, value);
    }
    run.check_stop();
  }
  return least;
}

/// With a filter: the value after the `wanted` largest admissible ones; nothing is interpolated.
double crowded_exact(const JoinInput& input, double quantile, const RunContext& run) {
  const std::uint64_t count = std::uint64_t{input.x.count()} * input.y.count();
  const QuantilePosition position(quantile, count);
  const bool filtered = input.filter != nullptr;
  const std::uint64_t above = filtered ? input.filter->wanted : position.above(count);
  const bool between = !filtered && position.fraction != 0;
  if (filtered && count_above(input, -kInfinity, above, run) <= above) return -kInfinity;
  const auto select = [&](const JoinResult& join, Band band) {
    return filtered ? select_admissible(input, join, band, above, run)
                    : select_exact(input, join, band, quantile, run);
  };
  const std::uint64_t limit = std::max<std::uint64_t>(std::uint64_t{1} << 22, above / 2);
  // Invariant: more than `above` values exceed low; at most `above` exceed high.
  double low = -kInfinity, high = kInfinity;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    std::vector<double> pivots = draw_pivots(input, round + 1);
    std::erase_if(pivots, [&](double v) { return v <= low || v >= high; });
    std::size_t first = 0, last = pivots.size();  // high's place is in [first, last]
    while (first < last) {
      const std::size_t middle = first + (last - first) / 2;
      if (count_above(input, pivots[middle], above, run) > above) {
        low = pivots[middle];
        first = middle + 1;
      } else {
        high = pivots[middle];
        last = middle;
      }
    }
    if (high < kInfinity && count_above(input, std::nextafter(high, -kInfinity), above, run) > above) {
      // `high` is the lower neighbour. The upper one equals it unless exactly `above` values exceed it.
      const std::uint64_t exceed = count_above(input, high, above, run);
      if (exceed < above || !between) return high;
      return position.between(high, least_above(input, high, above, run));
    }
    if (high < kInfinity) high = std::nextafter(high, -kInfinity);
    const Band band{low, high};
    const JoinResult join = join_rows(input, band, limit, run);
    if (join.overflow) continue;
    if (const auto selection = select(join, band)) return selection->threshold;
    // Exactly `above` values exceed the band: its largest value is the lower neighbour.
    double lower = -kInfinity;
    std::vector<FinePair> pairs;
    for (const Undecided& pair : join.undecided) pairs.push_back({pair.row, pair.col});
    std::vector<double> values(pairs.size());
    input.definition().evaluate(pairs, values);
    for (const double value : values)
      if (value <= high) lower = std::max(lower, value);
    if (!between) return lower;
    return position.between(lower, least_above(input, high, above, run));
  }
  throw Error(ErrorKind::internal, "the threshold could not be found", "too many values tie");
}

/// Chunk by chunk, every value by definition: slow, bounded, simple.
double crowded_paper(const JoinInput& input, double quantile, const RunContext& run) {
  const std::size_t rows = input.x.count(), cols = input.y.count();
  std::vector<double> quantiles((rows + kChunkRows - 1) / kChunkRows);
  parallel_for(run, quantiles.size(), 1, [&](std::size_t chunk, std::size_t, unsigned) {
    std::vector<FinePair> pairs;
    for (std::size_t i = chunk * kChunkRows; i < std::min(rows, (chunk + 1) * kChunkRows); ++i)
      for (std::size_t j = 0; j < cols; ++j)
        pairs.push_back({static_cast<Vertex>(i), static_cast<Vertex>(j)});
    std::vector<double> values(pairs.size());
    input.definition().evaluate(pairs, values);
    std::sort(values.begin(), values.end());
    const QuantilePosition position(quantile, values.size());
    const std::size_t upper = std::min<std::size_t>(position.index + 1, values.size() - 1);
    quantiles[chunk] = position.between(values[position.index], values[upper]);
  });
  std::sort(quantiles.begin(), quantiles.end());
  const double first = quantiles[(quantiles.size() - 1) / 2], second = quantiles[quantiles.size() / 2];
  return quantiles.size() % 2 == 1 ? first : (first + second) / 2;
}

}  // namespace

std::optional<Band> narrow_paper_band(const JoinInput& input, Band band, double quantile,
                                      const RunContext& run) {
  const double pivot = band.low + (band.high - band.low) / 2;
  if (!(band.low < pivot && pivot < band.high)) return {};
  const Array<std::uint64_t> counts = count_rows_above(input, pivot, run);
  const std::size_t rows = input.x.count(), chunks = (rows + kChunkRows - 1) / kChunkRows;
  std::size_t above = 0, below = 0;  // chunks whose quantile surely is
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    const std::size_t begin = chunk * kChunkRows, end = std::min(rows, begin + kChunkRows);
    const std::uint64_t values = std::uint64_t{end - begin} * input.y.count();
    std::uint64_t count = 0;
    for (std::size_t i = begin; i < end; ++i) count += counts[i];
    // The quantile lies between the values of ranks `rank` and `rank` + 1 from the top.
    const std::uint64_t rank = QuantilePosition(quantile, values).above(values);
    above += count > rank;
    below += count < rank;
  }
  if (below > chunks / 2) return Band{band.low, pivot};
  if (above > chunks / 2) return Band{pivot, band.high};
  return {};
}

double find_crowded_threshold(const JoinInput& input, ThresholdMode mode, double quantile,
                              const RunContext& run) {
  return mode == ThresholdMode::paper ? crowded_paper(input, quantile, run)
                                      : crowded_exact(input, quantile, run);
}

}  // namespace gcbs
