// Selection by intervals.
//
// Each undecided pair has an interval that holds its s. The r-th largest upper end bounds the r-th
// largest s from above, the r-th largest lower end from below; only pairs whose interval reaches into
// that window need the definition. Pairs above the band all rank before, pairs at or below it after,
// as long as the answer lies inside the band, which is checked at the end.
#include "similarity/select.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "similarity/quantile.h"

namespace gcbs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kGrain = 512;  // pairs a piece

/// The undecided pairs with their intervals; evaluating one shrinks its interval to a point.
class Intervals {
 public:
  Intervals(const JoinInput& input, const MeteredVector<Undecided>& pairs, const RunContext& run)
      : input_(input),
        pairs_(pairs),
        run_(run),
        low_(pairs.size(), 0.0, run.meter),
        high_(pairs.size(), 0.0, run.meter) {
    const FineBound bound = separate_fine(input.fine, run);
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      const double width = bound.row[pairs[p].row] + bound.col[input.place_y(pairs[p].col)];
      low_[p] = pairs[p].value - width;
      high_[p] = pairs[p].value + width;
    }
  }

  std::size_t size() const { return pairs_.size(); }
  MemoryMeter* meter() const { return run_.meter; }
  double low(std::size_t p) const { return low_[p]; }
  double high(std::size_t p) const { return high_[p]; }
  const Undecided& pair(std::size_t p) const { return pairs_[p]; }
  std::uint64_t weight(std::size_t p) const { return input_.weight(pairs_[p].row, pairs_[p].col); }

  /// Narrows the intervals of the given pairs at little cost, where that can be done.
  void narrow(const std::vector<std::size_t>& which) {
    parallel_for(run_, which.size(), kGrain, [&](std::size_t begin, std::size_t end, unsigned) {
      const Definition definition = input_.definition();
      const double bound = definition.near_bound();
      for (std::size_t w = begin; w < end; ++w) {
        const std::size_t p = which[w];
        if (low_[p] == high_[p]) continue;
        const double value = definition.near({pairs_[p].row, pairs_[p].col});
        low_[p] = std::fmax(low_[p], value - bound);  // fmax and fmin pass over NaN
        high_[p] = std::fmin(high_[p], value + bound);
      }
    });
  }

  /// s of the given pairs (indices ascending), by definition.
  void evaluate(const std::vector<std::size_t>& which) {
    parallel_for(run_, which.size(), kGrain, [&](std::size_t begin, std::size_t end, unsigned) {
      std::vector<FinePair> pairs;
      for (std::size_t w = begin; w < end; ++w) pairs.push_back({pairs_[which[w]].row, pairs_[which[w]].col});
      std::vector<double> values(pairs.size());
      input_.definition().evaluate(pairs, values);
      for (std::size_t w = begin; w < end; ++w) low_[which[w]] = high_[which[w]] = values[w - begin];
    });
  }

  /// Evaluates what is in doubt and returns the pairs with s > t.
  MeteredVector<FinePair> above(double t) {
    const auto in_doubt = [&](std::size_t p) { return low_[p] <= t && high_[p] > t && low_[p] != high_[p]; };
    std::vector<std::size_t> doubtful;
    for (std::size_t p = 0; p < size(); ++p)
      if (in_doubt(p)) doubtful.push_back(p);
    narrow(doubtful);
    std::erase_if(doubtful, [&](std::size_t p) { return !in_doubt(p); });
    evaluate(doubtful);
    MeteredVector<FinePair> found(run_.meter);
    for (std::size_t p = 0; p < size(); ++p)
      if (low_[p] > t) found.push_back({pairs_[p].row, pairs_[p].col});
    return found;
  }

 private:
  const JoinInput& input_;
  const MeteredVector<Undecided>& pairs_;
  const RunContext& run_;
  MeteredVector<double> low_, high_;
};

/// A value that counts `weight` times.
struct Weighted {
  double value;
  std::uint64_t weight;
};

/// The value of the given rank from the top, 1-based, rank <= the sum of weights; reorders.
double ranked(MeteredVector<Weighted>& values, std::uint64_t rank) {
  auto begin = values.begin(), end = values.end();
  while (end - begin > 1) {
    const auto middle = begin + (end - begin) / 2;
    std::nth_element(begin, middle, end,
                     [](const Weighted& a, const Weighted& b) { return a.value > b.value; });
    std::uint64_t upper = 0;
    for (auto it = begin; it != middle; ++it) upper += it->weight;
    if (rank <= upper) {
      end = middle;
    } else {
      rank -= upper;
      begin = middle;
    }
  }
  return begin->value;
}
double ranked(std::vector<double>& values, std::uint64_t rank) {
  const auto nth = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), nth, values.end(), std::greater<>());
  return *nth;
}

struct Neighbours {
  double lower, upper;  ///< the values of ranks r + 1 and r from the top
};

/// Exact values of ranks r and r + 1 (r >= 1) among pairs [begin, end).
///
/// No interval is longer than 2 reach, so these values are within `reach` of those of the intervals' middles:
/// what cannot be that near is counted or dropped. Most middles are much better than their bounds: once the
/// intervals around the middle of rank r are narrowed, few others are in doubt.
Neighbours rank_exactly(Intervals& intervals, std::size_t begin, std::size_t end, std::uint64_t r) {
  MeteredVector<Weighted> values(intervals.meter());
  values.reserve(end - begin);
  double reach = 0;
  for (std::size_t p = begin; p < end; ++p) {
    const double middle = (intervals.low(p) + intervals.high(p)) / 2;
    reach = std::max({reach, intervals.high(p) - middle, middle - intervals.low(p)});
    values.push_back({middle, intervals.weight(p)});
  }
  reach += 0x1p-50;  // the differences are rounded
  const double upper_middle = ranked(values, r), lower_middle = ranked(values, r + 1);
  std::vector<std::size_t> near, doubtful;
  std::uint64_t surely_above = 0;
  for (std::size_t p = begin; p < end; ++p) {
    if (intervals.low(p) > upper_middle + reach) {
      surely_above += intervals.weight(p);
    } else if (intervals.high(p) >= lower_middle - reach) {
      near.push_back(p);
      if (intervals.low(p) <= upper_middle && intervals.high(p) >= lower_middle) doubtful.push_back(p);
    }
  }
  intervals.narrow(doubtful);

  values.clear();
  for (const std::size_t p : near) values.push_back({intervals.high(p), intervals.weight(p)});
  const double window_high = ranked(values, r - surely_above);
  values.clear();
  for (const std::size_t p : near) values.push_back({intervals.low(p), intervals.weight(p)});
  const double window_low = ranked(values, r + 1 - surely_above);
  doubtful.clear();
  for (const std::size_t p : near) {
    if (intervals.low(p) > window_high)
      surely_above += intervals.weight(p);
    else if (intervals.high(p) >= window_low)
      doubtful.push_back(p);
  }
  intervals.evaluate(doubtful);
  MeteredVector<Weighted> exact(intervals.meter());
  for (const std::size_t p : doubtful) exact.push_back({intervals.low(p), intervals.weight(p)});
  const double upper = ranked(exact, r - surely_above);
  return {ranked(exact, r + 1 - surely_above), upper};
}

/// What is known of a chunk's quantile before anything is evaluated.
struct Chunk {
  std::size_t begin, end;  ///< its undecided pairs
  std::uint64_t rank;      ///< of the upper neighbour among them; 0: it lies above the band
  double low, high;        ///< the quantile's interval
};

}  // namespace

std::optional<Selection> select_exact(const JoinInput& input, const JoinResult& join, Band band,
                                      double quantile, const RunContext& run) {
  const std::uint64_t count = std::uint64_t{input.x.count()} * input.y.count();
  const QuantilePosition position(quantile, count);
  const std::uint64_t above = position.above(count);
  if (join.kept > above || (join.kept == above && above > 0)) return {};  // a neighbour is above the band
  const std::uint64_t rank = above - join.kept;
  Intervals intervals(input, join.undecided, run);
  std::uint64_t undecided = 0;
  for (std::size_t p = 0; p < intervals.size(); ++p) undecided += intervals.weight(p);
  if (undecided < rank + 1) return {};
  Neighbours found{};
  if (rank == 0) {  // the largest value of all
    found = rank_exactly(intervals, 0, intervals.size(), 1);
    found.lower = found.upper;
  } else {
    found = rank_exactly(intervals, 0, intervals.size(), rank);
  }
  if (found.lower <= band.low || found.upper > band.high) return {};
  const double threshold = position.between(found.lower, found.upper);
  return Selection{threshold, intervals.above(threshold)};
}

std::optional<Selection> select_admissible(const JoinInput& input, const JoinResult& join, Band band,
                                           std::uint64_t wanted, const RunContext& run) {
  if (join.kept > wanted) return {};
  const std::uint64_t rank = wanted - join.kept;
  Intervals intervals(input, join.undecided, run);
  if (intervals.size() <= rank) {
    if (band.low > -kInfinity) return {};
    return Selection{-kInfinity, intervals.above(-kInfinity)};
  }
  const Neighbours found = rank_exactly(intervals, 0, intervals.size(), std::max<std::uint64_t>(rank, 1));
  const double threshold = rank == 0 ? found.upper : found.lower;
  if (threshold <= band.low || threshold > band.high) return {};
  return Selection{threshold, intervals.above(threshold)};
}

std::optional<Selection> select_paper(const JoinInput& input, const JoinResult& join, Band band,
                                      double quantile, const RunContext& run) {
  const std::size_t rows = input.fine.x.count, cols = input.fine.y.count;
  const std::size_t chunk_count = (rows + kChunkRows - 1) / kChunkRows;
  std::vector<std::uint64_t> kept(chunk_count, 0);
  for (const EdgeBlock& block : join.blocks)
    for (std::size_t r = 0; r < block.counts.size(); ++r)
      kept[(block.first_row + r) / kChunkRows] += block.counts[r];

  Intervals intervals(input, join.undecided, run);
  std::vector<Chunk> chunks(chunk_count);
  std::size_t next = 0;
  for (std::size_t c = 0; c < chunk_count; ++c) {
    Chunk& chunk = chunks[c];
    chunk.begin = next;
    while (next < intervals.size() && intervals.pair(next).row / kChunkRows == c) ++next;
    chunk.end = next;
    const std::uint64_t values = std::uint64_t{std::min(rows, (c + 1) * kChunkRows) - c * kChunkRows} * cols;
    const std::uint64_t above = QuantilePosition(quantile, values).above(values);
    chunk.rank = above > kept[c] ? above - kept[c] : 0;
    // Between the neighbours of ranks rank + 1 and rank; open where one is not among the undecided.
    std::vector<double> ends;
    const std::size_t size = chunk.end - chunk.begin;
    for (std::size_t p = chunk.begin; p < chunk.end; ++p) ends.push_back(intervals.low(p));
    chunk.low = kept[c] > above          ? band.high
                : chunk.rank + 1 <= size ? ranked(ends, chunk.rank + 1)
                                         : -kInfinity;
    ends.clear();
    for (std::size_t p = chunk.begin; p < chunk.end; ++p) ends.push_back(intervals.high(p));
    chunk.high = chunk.rank == 0 ? kInfinity : chunk.rank <= size ? ranked(ends, chunk.rank) : band.low;
    if (above == 0) chunk.high = size == 0 ? band.low : ranked(ends, 1);
  }

  // The median's interval, then exactly those chunks that may be in the middle.
  std::vector<double> lows, highs;
  for (const Chunk& chunk : chunks) lows.push_back(chunk.low), highs.push_back(chunk.high);
  std::sort(lows.begin(), lows.end());
  std::sort(highs.begin(), highs.end());
  const std::size_t middle_low = (chunk_count - 1) / 2, middle_high = chunk_count / 2;
  const double median_low = lows[middle_low], median_high = highs[middle_high];
  if (median_low == -kInfinity || median_high == kInfinity) return {};
  std::size_t below = 0;
  std::vector<double> exact;
  for (std::size_t c = 0; c < chunk_count; ++c) {
    const Chunk& chunk = chunks[c];
    if (chunk.high < median_low) {
      ++below;
      continue;
    }
    if (chunk.low > median_high) continue;
    const std::uint64_t values = std::uint64_t{std::min(rows, (c + 1) * kChunkRows) - c * kChunkRows} * cols;
    const QuantilePosition position(quantile, values);
    const bool largest = position.above(values) == 0;
    if ((chunk.rank == 0 && !largest) || chunk.end - chunk.begin < chunk.rank + 1) return {};
    Neighbours found = rank_exactly(intervals, chunk.begin, chunk.end, largest ? 1 : chunk.rank);
    if (largest) found.lower = found.upper;
    if (found.lower <= band.low || found.upper > band.high) return {};
    exact.push_back(position.between(found.lower, found.upper));
  }
  std::sort(exact.begin(), exact.end());
  if (middle_low < below || middle_high - below >= exact.size()) return {};
  const double first = exact[middle_low - below], second = exact[middle_high - below];
  const double threshold = middle_low == middle_high ? first : (first + second) / 2;
  return Selection{threshold, intervals.above(threshold)};
}

}  // namespace gcbs
