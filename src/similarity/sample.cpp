#include "similarity/sample.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <tuple>

#include "base/random.h"
#include "gcbs/graph.h"
#include "similarity/quantile.h"

namespace gcbs {
namespace {

constexpr std::size_t kTile = 16, kTileValues = kTile * kTile;
constexpr std::size_t kFirstTiles = 256;  // drawn to find the cut
constexpr std::size_t kLeastTiles = 4096;
constexpr double kMostShare = 0.003;  // of all pairs
constexpr std::uint64_t kAllPairsUpTo = 1u << 22;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Fine values of lists of pairs; one a thread.
class FineValues {
 public:
  /// `make_sieve` may be null: all pairs are admitted.
  FineValues(const FinePrepared& fine, const Kernel& kernel, const MakeSieve* make_sieve = nullptr,
             double worst_bound = 0)
      : fine_(fine), kernel_(kernel), scale_(fine.x.scale * fine.y.scale), worst_bound_(worst_bound) {
    if (make_sieve != nullptr) sieve_.emplace((*make_sieve)());
  }

  std::vector<FinePair> pairs;  ///< places
  std::vector<double> values;

  void clear() {
    pairs.clear();
    rows_.clear();
  }
  void add(std::size_t row, std::size_t col) {
    pairs.push_back({fine_.x.places.place(row), fine_.y.places.place(col)});
    if (sieve_) rows_.push_back({static_cast<Vertex>(row), static_cast<Vertex>(col)});
  }

  void evaluate() {
    products_.resize(pairs.size());
    values.resize(pairs.size());
    kernel_.fine({fine_.x.values.data(), fine_.y.values.data(), fine_.x.stride, pairs.data(), pairs.size(),
                  products_.data()});
    for (std::size_t p = 0; p < pairs.size(); ++p)
      values[p] = scale_ * static_cast<double>(products_[p]) + fine_.x.offset[pairs[p].row] +
                  fine_.y.offset[pairs[p].col];
  }

  /// Values above the cut whose pairs the sieve admits, in their order.
  const std::vector<double>& admitted_above(double cut) {
    above_.clear();
    seen_.clear();
    for (std::size_t p = 0; p < pairs.size(); ++p) {
      if (!(values[p] > cut)) continue;
      above_.push_back(values[p]);
      if (sieve_)
        seen_.push_back({rows_[p].row, rows_[p].col, values[p] - worst_bound_, values[p] + worst_bound_});
    }
    if (!sieve_) return above_;
    admitted_.resize(seen_.size());
    sieve_->judge(seen_, admitted_);
    std::size_t kept = 0;
    for (std::size_t p = 0; p < seen_.size(); ++p)
      if (admitted_[p] != 0) above_[kept++] = above_[p];
    above_.resize(kept);
    return above_;
  }

 private:
  const FinePrepared& fine_;
  const Kernel& kernel_;
  double scale_, worst_bound_;
  std::optional<EdgeSieve> sieve_;
  std::vector<FinePair> rows_;  ///< of the pairs, where there is a sieve
  std::vector<std::int64_t> products_;
  std::vector<double> above_;
  std::vector<SeenPair> seen_;
  std::vector<std::uint8_t> admitted_;
};

/// Rows of the matrix: places may stand for several.
std::size_t rows_of(const FineOperand& side) {
  return side.places.empty() ? side.count : side.places.rows.size();
}

/// Bounds of a side's rows: the largest, and the mean, added up row by row: the same bits however rows
/// are grouped into places.
struct RowBound {
  double error = 0, norm = 0;
};
RowBound largest(const FineOperand& side) {
  return {static_cast<double>(*std::max_element(side.error.begin(), side.error.end())),
          static_cast<double>(*std::max_element(side.norm.begin(), side.norm.end()))};
}
RowBound mean(const FineOperand& side) {
  RowBound sum;
  const auto count = static_cast<double>(rows_of(side));
  for (std::size_t i = 0; i < rows_of(side); ++i) {
    sum.error += static_cast<double>(side.error[side.places.place(i)]);
    sum.norm += static_cast<double>(side.norm[side.places.place(i)]);
  }
  return {sum.error / count, sum.norm / count};
}

/// Of a fine value, by docs/bounds.md (1).
double fine_bound(RowBound x, RowBound y, const FinePrepared& fine) {
  return x.error * y.norm + (x.norm + x.error) * y.error + fine.rounding;
}

struct Drawn {
  std::uint32_t tile;
  double value;
};

using MakeValues = std::function<FineValues()>;

/// Values above `cut` of the tiles [begin, end), in tile order.
std::vector<Drawn> draw_tiles(const FinePrepared& fine, const MakeValues& make_values, std::uint64_t seed,
                              std::size_t begin, std::size_t end, double cut, const RunContext& run) {
  constexpr std::size_t kGrain = 64;
  const std::size_t count_x = rows_of(fine.x), count_y = rows_of(fine.y);
  const std::size_t pieces = (end - begin + kGrain - 1) / kGrain;
  std::vector<std::vector<Drawn>> found(pieces);
  parallel_for(run, pieces, 1, [&](std::size_t piece, std::size_t, unsigned) {
    FineValues values = make_values();
    const std::size_t first = begin + piece * kGrain, last = std::min(end, first + kGrain);
    for (std::size_t tile = first; tile < last; ++tile) {
      Random random(seed + 0x5851F42D4C957F2Du * (tile + 1));
      std::size_t rows[kTile], cols[kTile];
      for (std::size_t& row : rows) row = random.below(count_x);
      for (std::size_t& col : cols) col = random.below(count_y);
      values.clear();
      for (const std::size_t col : cols)
        for (const std::size_t row : rows) values.add(row, col);
      values.evaluate();
      for (const double value : values.admitted_above(cut))
        found[piece].push_back({static_cast<std::uint32_t>(tile), value});
    }
  });
  std::vector<Drawn> all;
  for (const auto& piece : found) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

/// Every pair of rows once, by row.
std::vector<double> all_values(const FinePrepared& fine, const MakeValues& make_values,
                               const RunContext& run) {
  const std::size_t rows = rows_of(fine.x), cols = rows_of(fine.y);
  std::vector<std::vector<double>> by_row(rows);
  parallel_for(run, rows, 8, [&](std::size_t begin, std::size_t end, unsigned) {
    FineValues values = make_values();
    for (std::size_t i = begin; i < end; ++i) {
      values.clear();
      for (std::size_t j = 0; j < cols; ++j) values.add(i, j);
      values.evaluate();
      by_row[i] = values.admitted_above(-kInfinity);
    }
  });
  std::vector<double> all;
  for (const std::vector<double>& row : by_row) all.insert(all.end(), row.begin(), row.end());
  return all;
}

/// The quantile of the fine values of a chunk.
double chunk_quantile(const FinePrepared& fine, std::size_t chunk, double quantile, const Kernel& kernel) {
  FineValues values(fine, kernel);
  for (std::size_t i = chunk * kChunkRows; i < std::min(fine.x.count, (chunk + 1) * kChunkRows); ++i)
    for (std::size_t j = 0; j < fine.y.count; ++j)
      values.pairs.push_back({static_cast<Vertex>(i), static_cast<Vertex>(j)});
  values.evaluate();
  std::vector<double>& v = values.values;
  const QuantilePosition position(quantile, v.size());
  const auto nth = v.begin() + static_cast<std::ptrdiff_t>(position.index);
  std::nth_element(v.begin(), nth, v.end());
  const double lower = *nth, upper = nth + 1 == v.end() ? lower : *std::min_element(nth + 1, v.end());
  return position.between(lower, upper);
}

/// What a chunk's rows are like: 1, the mean and the largest of their mean similarities (that is what
/// offsets are, up to a constant), their mean norm.
using Features = std::array<double, 4>;

Features features_of(const FineOperand& side, std::size_t chunk) {
  const std::size_t begin = chunk * kChunkRows, end = std::min(side.count, begin + kChunkRows);
  Features f{1, 0, -kInfinity, 0};
  for (std::size_t i = begin; i < end; ++i) {
    f[1] += side.offset[i] / static_cast<double>(end - begin);
    f[2] = std::max(f[2], side.offset[i]);
    f[3] += static_cast<double>(side.norm[i]) / static_cast<double>(end - begin);
  }
  return f;
}

double predicted(const Features& weights, const Features& f) {
  double sum = 0;
  for (std::size_t a = 0; a < f.size(); ++a) sum += weights[a] * f[a];
  return sum;
}

/// Weights whose prediction of the values has the least squared error; features that say nothing get
/// (almost) none.
Features least_squares(const std::vector<Features>& features, const std::vector<double>& values) {
  constexpr std::size_t kSize = std::tuple_size_v<Features>;
  double system[kSize][kSize + 1] = {};
  for (std::size_t s = 0; s < features.size(); ++s)
    for (std::size_t a = 0; a < kSize; ++a) {
      for (std::size_t b = 0; b < kSize; ++b) system[a][b] += features[s][a] * features[s][b];
      system[a][kSize] += features[s][a] * values[s];
    }
  // Elimination on a positive definite system: no exchange of rows is needed.
  for (std::size_t a = 0; a < kSize; ++a) system[a][a] *= 1 + 1e-9;
  for (std::size_t a = 0; a < kSize; ++a)
    for (std::size_t row = 0; row < kSize; ++row) {
      const double factor = row == a || system[a][a] == 0 ? 0 : system[row][a] / system[a][a];
      for (std::size_t b = a; b <= kSize; ++b) system[row][b] -= factor * system[a][b];
    }
  Features weights{};
  for (std::size_t a = 0; a < kSize; ++a)
    weights[a] = system[a][a] == 0 ? 0 : system[a][kSize] / system[a][a];
  return weights;
}

}  // namespace

double TailSample::at_rank(double rank) const {
  if (rank < 0) return kInfinity;
  return rank < static_cast<double>(top.size()) ? top[static_cast<std::size_t>(rank)] : cut;
}

double TailSample::estimate() const {
  const auto count = static_cast<std::uint64_t>(drawn);
  const QuantilePosition position(1 - tail_share, count);
  const auto above = static_cast<double>(position.above(count));
  const double lower = at_rank(above), upper = above >= 1 ? at_rank(above - 1) : lower;
  return lower == -kInfinity ? lower : position.between(lower, upper);
}

Band TailSample::interval(double deviations) const {
  const double tail = std::floor(tail_share * (drawn - 1)), spread = deviations * count_deviation;
  if (complete) return {at_rank(tail + 2) - 2 * fine_bound, at_rank(tail - 3) + 2 * fine_bound};
  const double margin = spread + deviations * deviations;
  return {at_rank(tail + margin + 1) - fine_bound, at_rank(tail - spread - 2) + fine_bound};
}

TailSample sample_tail(const FinePrepared& fine, double quantile, double wanted_tail, const Kernel& kernel,
                       std::uint64_t seed, const RunContext& run, const MakeSieve* make_sieve) {
  TailSample sample;
  sample.tail_share = 1 - quantile;
  sample.fine_bound = fine_bound(largest(fine.x), largest(fine.y), fine);
  const MakeValues make_values = [&fine, &kernel, make_sieve, worst = sample.fine_bound] {
    return FineValues(fine, kernel, make_sieve, worst);
  };
  const std::uint64_t pairs = std::uint64_t{rows_of(fine.x)} * rows_of(fine.y);
  if (pairs <= kAllPairsUpTo) {
    sample.complete = true;
    sample.cut = -kInfinity;
    sample.top = all_values(fine, make_values, run);
    sample.drawn = static_cast<double>(pairs);
    // Ranks beyond the quantile's are never asked for: only the upper end is sorted.
    const auto kept = static_cast<std::size_t>(sample.tail_share * sample.drawn) + 16;
    if (kept < sample.top.size()) {
      const auto end = sample.top.begin() + static_cast<std::ptrdiff_t>(kept);
      std::nth_element(sample.top.begin(), end, sample.top.end(), std::greater<>());
      sample.cut = *end;
      sample.top.erase(end, sample.top.end());
    }
    std::sort(sample.top.begin(), sample.top.end(), std::greater<>());
    return sample;
  }
  // Typical bounds are enough where the guess need not be certain.
  sample.fine_bound = fine_bound(mean(fine.x), mean(fine.y), fine);

  // A better guess makes the band narrower, but must not cost more than a few percent of the scan.
  // The sample depends on the data alone, never on the kernel: so does the estimate.
  const double most = std::max<double>(kLeastTiles, kMostShare * static_cast<double>(pairs) / kTileValues);
  const auto tiles = static_cast<std::size_t>(
      std::clamp(wanted_tail / (kTileValues * sample.tail_share), static_cast<double>(kLeastTiles), most));
  std::vector<Drawn> drawn = draw_tiles(fine, make_values, seed, 0, kFirstTiles, -kInfinity, run);
  std::vector<double> first;
  for (const Drawn& d : drawn) first.push_back(d.value);
  const auto wanted =
      static_cast<std::size_t>(3 * sample.tail_share * static_cast<double>(kFirstTiles * kTileValues)) + 512;
  double cut = -kInfinity;
  if (wanted < first.size()) {
    std::nth_element(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(wanted), first.end(),
                     std::greater<>());
    cut = first[wanted];
    std::erase_if(drawn, [cut](const Drawn& d) { return d.value <= cut; });
  }
  sample.cut = cut;
  const std::vector<Drawn> rest = draw_tiles(fine, make_values, seed, kFirstTiles, tiles, cut, run);
  drawn.insert(drawn.end(), rest.begin(), rest.end());
  sample.drawn = static_cast<double>(tiles * kTileValues);
  for (const Drawn& d : drawn) sample.top.push_back(d.value);
  std::sort(sample.top.begin(), sample.top.end(), std::greater<>());

  // Tiles are independent draws: the spread of their counts is the spread of the total.
  const double estimate = sample.estimate();
  std::vector<double> counts(tiles, 0.0);
  double total = 0;
  for (const Drawn& d : drawn)
    if (d.value > estimate) ++counts[d.tile], ++total;
  const double mean = total / static_cast<double>(tiles);
  double variance = 0;
  for (const double count : counts) variance += (count - mean) * (count - mean);
  sample.count_deviation = std::sqrt(variance);
  return sample;
}

Band sample_chunk_median(const FinePrepared& fine, double quantile, const Kernel& kernel, double deviations,
                         std::uint64_t seed, const RunContext& run) {
  constexpr std::size_t kSampledChunks = 255;
  const double bound = fine_bound(largest(fine.x), largest(fine.y), fine);
  const std::size_t rows = fine.x.count, cols = fine.y.count, chunks = (rows + kChunkRows - 1) / kChunkRows;
  const bool all = chunks <= kSampledChunks || std::uint64_t{rows} * cols <= kAllPairsUpTo;
  const std::size_t taken = all ? chunks : kSampledChunks;
  std::vector<std::size_t> sampled(taken);
  std::vector<double> quantiles(taken);
  parallel_for(run, taken, 1, [&](std::size_t c, std::size_t, unsigned) {
    Random random(seed + 0x2545F4914F6CDD1Du * (c + 1));
    sampled[c] = all ? c : random.below(chunks);
    quantiles[c] = chunk_quantile(fine, sampled[c], quantile, kernel);
  });
  if (all) {
    std::sort(quantiles.begin(), quantiles.end());
    return {quantiles[(taken - 1) / 2] - 2 * bound, quantiles[taken / 2] + 2 * bound};
  }
  // What rows are like says most of where their quantiles lie, and it is known of all rows: only what it
  // does not say has to be learnt from the sample.
  std::vector<Features> features;
  for (const std::size_t chunk : sampled) features.push_back(features_of(fine.x, chunk));
  const Features weights = least_squares(features, quantiles);
  std::vector<double> residuals(taken), medians(chunks);
  double square = 0;
  for (std::size_t c = 0; c < taken; ++c) {
    residuals[c] = quantiles[c] - predicted(weights, features[c]);
    square += residuals[c] * residuals[c];
  }
  for (std::size_t chunk = 0; chunk < chunks; ++chunk)
    medians[chunk] = predicted(weights, features_of(fine.x, chunk)) + residuals[chunk % taken];
  const auto middle = medians.begin() + static_cast<std::ptrdiff_t>(chunks / 2);
  std::nth_element(medians.begin(), middle, medians.end());
  // A median's deviation is 1.25 times that of a mean, for values that are about normal.
  const double reach = 1.5 * deviations * std::sqrt(square) / static_cast<double>(taken) + 2 * bound;
  return {*middle - reach, *middle + reach};
}

}  // namespace gcbs
