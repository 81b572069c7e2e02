// Operands, threshold, join: the order of things.
//
// exact: a sample says where the threshold lies; one join at the lower end of that band keeps the
// pairs above the band and lists those inside it; selection ranks the listed ones exactly. Where the
// sample misled (rare), the join is run again with a wider band; where equal values crowd the band,
// find_crowded_threshold takes over.
//
// With a filter the sample, the join and the counts see admissible pairs only. Equal rows of Y are scanned
// once, a few at a time, and judged one by one: each has groups and a margin of its own.
#include "similarity/find_edges.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "gcbs/error.h"
#include "matrix/equal_rows.h"
#include "similarity/crowded.h"
#include "similarity/definition.h"
#include "similarity/join.h"
#include "similarity/sample.h"
#include "similarity/select.h"
#include "similarity/shortcut.h"

namespace gcbs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kMostNarrowings = 8;
constexpr std::size_t kMostJudgedTogether = 32;  // rows of a place that are judged one by one
constexpr double kBandDeviations = 4.5, kIntervalDeviations = 1.96, kMostDeviations = 150;

/// A join and what it left to decide, decided.
struct Joined {
  JoinResult join;
  MeteredVector<FinePair> survivors;
  Threshold threshold{};
  FinePrepared fine{};
};

Joined join_above(const JoinInput& input, Threshold threshold, const RunContext& run) {
  Joined joined{join_rows(input, {threshold.value, threshold.value}, ~std::uint64_t{0}, run),
                MeteredVector<FinePair>(run.meter), threshold};
  for (const Undecided& pair : joined.join.undecided) joined.survivors.push_back({pair.row, pair.col});
  return joined;
}

/// The threshold and the pairs above it. `band_at(deviations)` guesses where the threshold lies.
Joined join_in_band(JoinInput& input, const std::function<Band(double)>& band_at, double quantile,
                    ThresholdMode mode, const RunContext& run) {
  const auto wanted = input.filter != nullptr
                          ? input.filter->wanted
                          : static_cast<std::uint64_t>((1 - quantile) * static_cast<double>(input.x.count()) *
                                                       static_cast<double>(input.y.count()));
  const std::uint64_t limit = std::max<std::uint64_t>(std::uint64_t{1} << 22, wanted / 2);
  for (double deviations = kBandDeviations;; deviations *= 4) {
    Band band = band_at(deviations);
    JoinResult join = join_rows(input, band, limit, run);
    for (int round = 0; join.overflow && mode == ThresholdMode::paper && round < kMostNarrowings; ++round) {
      const std::optional<Band> narrower = narrow_paper_band(input, band, quantile, run);
      if (!narrower) break;
      band = *narrower;
      join = join_rows(input, band, limit, run);
    }
    if (join.overflow) {
      join = {};
      const RowClasses classes(input.x, input.y, run);
      input.classes = &classes;
      const double value = find_crowded_threshold(input, mode, quantile, run);
      return join_above(input, {mode, value, value, value}, run);
    }
    std::optional<Selection> selection =
        mode == ThresholdMode::paper ? select_paper(input, join, band, quantile, run)
        : input.filter != nullptr    ? select_admissible(input, join, band, wanted, run)
                                     : select_exact(input, join, band, quantile, run);
    if (selection) {
      const double t = selection->threshold;
      return {std::move(join), std::move(selection->survivors), {mode, t, t, t}};
    }
    if (deviations > kMostDeviations)
      throw Error(ErrorKind::internal, "the threshold could not be found", "no band held it");
  }
}

/// Size of the sample's tail. An estimate should be good; a band need not be: drawing a value costs about
/// half of what a pair in the band costs, and the sum of the two is least near 4 (edges a row)^(4/3). Where
/// the rows are many, both are little beside the scan, and a larger tail saves memory: a band half as wide
/// holds half as many pairs.
double wanted_tail(ThresholdMode mode, double quantile, std::size_t rows) {
  constexpr double kMost = 30000, kLeast = 4096, kManyRows = 50000, kMostTimes = 8;
  if (mode == ThresholdMode::estimate) return kMost;
  const auto n = static_cast<double>(rows);
  const double cheapest = std::clamp(4 * std::pow((1 - quantile) * n, 4.0 / 3), kLeast, kMost);
  return cheapest * std::clamp(n / kManyRows, 1.0, kMostTimes);
}

/// At most so many rows together; a class that is larger becomes several.
void split_classes(std::vector<std::uint32_t>& first_equal, std::size_t most) {
  std::vector<std::uint32_t> leader(first_equal.size());
  std::vector<std::size_t> together(first_equal.size(), most);
  for (std::size_t i = 0; i < first_equal.size(); ++i) {
    const std::uint32_t of_class = first_equal[i];
    if (together[of_class] == most) {
      leader[of_class] = static_cast<std::uint32_t>(i);
      together[of_class] = 0;
    }
    ++together[of_class];
    first_equal[i] = leader[of_class];
  }
}

/// Equal rows share a place where many are equal: each is then scanned once.
PlaceRows group_if_worthwhile(const Rows& rows, std::size_t most, const RunContext& run) {
  std::vector<std::uint32_t> first = first_equal_rows(rows.matrix(), run);
  split_classes(first, most);
  std::size_t distinct = 0;
  for (std::size_t i = 0; i < first.size(); ++i) distinct += first[i] == i;
  return distinct <= first.size() / 10 * 9 ? group_equal_rows(first, run) : PlaceRows{};
}

/// The int8 operands live here: they are gone before the edges are put together.
Joined join_all(const Rows& x, const Rows& y, double quantile, const SimilarityOptions& options,
                const Kernel& kernel, const RunContext& run, const StageMark& begin_stage,
                const EdgeFilter* filter) {
  const ThresholdMode mode = options.threshold;
  begin_stage("prepare");
  // Paper mode: chunks are rows in their own order, so the rows stay where they are.
  const bool keep_order = mode == ThresholdMode::paper;
  const bool grouped = options.shortcut != Shortcut::off && !keep_order;
  const std::size_t most = filter != nullptr ? kMostJudgedTogether : x.count();
  FinePrepared fine =
      prepare_fine(x, y, grouped && filter == nullptr ? group_if_worthwhile(x, most, run) : PlaceRows{},
                   grouped ? group_if_worthwhile(y, most, run) : PlaceRows{}, run);
  std::optional<SieveOperands> sieve_operands;
  if (filter != nullptr) sieve_operands.emplace(filter->judge, fine, run);
  const MakeSieve make_sieve = [&] { return EdgeSieve(*filter, *sieve_operands, x, y, kernel); };

  begin_stage("threshold");
  const TailSample sample = sample_tail(fine, quantile, wanted_tail(mode, quantile, x.count()), kernel,
                                        options.seed, run, filter != nullptr ? &make_sieve : nullptr);
  const auto band_at = [&](double deviations) {
    if (deviations > kMostDeviations) return Band{-kInfinity, kInfinity};
    return keep_order ? sample_chunk_median(fine, quantile, kernel, deviations, options.seed, run)
                      : sample.interval(deviations);
  };

  begin_stage("prepare");
  const std::optional<Head> head = choose_shortcut(fine, sample, options.shortcut, keep_order, kernel, run);
  const CoarsePrepared coarse = prepare_coarse(fine, head ? &*head : nullptr, kernel, run);
  JoinInput input{x, y, fine, coarse, kernel, nullptr, filter, sieve_operands ? &*sieve_operands : nullptr};

  begin_stage("join");
  Joined joined;
  if (mode == ThresholdMode::estimate) {
    const double value = sample.estimate();
    const Band band = sample.interval(kIntervalDeviations);
    joined = join_above(input, {mode, value, std::min(band.low, value), std::max(band.high, value)}, run);
  } else {
    joined = join_in_band(input, band_at, quantile, mode, run);
  }
  joined.fine = std::move(fine);
  return joined;
}

}  // namespace

double expected_band_bytes(double quantile, std::size_t rows) {
  constexpr double kRowsAreAlike = 2;  // a tile's values are: their count deviates more than a random one
  constexpr double kCopies = 3;        // lists of the workers, all of them, ranked
  const double deviation = kRowsAreAlike / std::sqrt(wanted_tail(ThresholdMode::exact, quantile, rows));
  const double share = std::min(1.0, 2 * kBandDeviations * deviation);
  const auto n = static_cast<double>(rows);
  return kCopies * sizeof(Undecided) * share * (1 - quantile) * n * n;
}

const Kernel& kernel_for(Isa isa) {
  switch (isa) {
#if defined(__x86_64__)
    case Isa::amx_int8: return kAmxInt8Kernel;
    case Isa::avx512_vnni: return kAvx512VnniKernel;
    case Isa::avx2: return kAvx2Kernel;
#endif
    default: return kScalarKernel;
  }
}

FoundEdges find_edges(const Rows& x, const Rows& y, double quantile, const SimilarityOptions& options,
                      const Kernel& kernel, const RunContext& run, const StageMark& begin_stage,
                      const EdgeFilter* filter, FineRows fine_rows) {
  if (filter != nullptr) {
    const auto rows = static_cast<double>(x.count());
    quantile = std::clamp(1 - static_cast<double>(filter->wanted) / (rows * rows), 0.0, 1.0);
    if (options.threshold == ThresholdMode::paper || options.keep_diagonal)
      throw Error(ErrorKind::usage, "the paper's threshold knows no filter",
                  "its listing keeps every pair above the threshold, the diagonal too",
                  "use the exact or the estimated threshold, or leave the filter out");
  }
  Joined joined = join_all(x, y, quantile, options, kernel, run, begin_stage, filter);
  joined.join.undecided = {};
  if (fine_rows == FineRows::drop) {
    joined.fine.x.values = {};
    joined.fine.y.values = {};
  }
  const PlaceRows rows_themselves;  // a filter has found rows of Y, not places
  FoundEdges found;
  found.threshold = joined.threshold;
  found.edges = assemble_edges(std::move(joined.join), joined.survivors, joined.fine.x.places,
                               filter == nullptr ? joined.fine.y.places : rows_themselves, x.count(),
                               options.keep_diagonal, run);
  if (fine_rows == FineRows::keep) found.fine = std::move(joined.fine);
  return found;
}

}  // namespace gcbs
