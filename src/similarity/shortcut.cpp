// The cost of a pair is that of its int8 product, which grows with the depth, plus that of an int16
// product when it is a candidate. A sample of pairs says how many candidates each depth leaves; the
// kernel says what the two products cost.
#include "similarity/shortcut.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/random.h"

namespace gcbs {
namespace {

constexpr std::size_t kSampleRows = 192;       // of each side: all their pairs are looked at
constexpr double kQuantisation = 0.0095;       // typical |z - scale q| / |z|
constexpr double kCandidateCost = 15;          // nanoseconds around the int16 product of a candidate
constexpr double kWorthwhile = 0.9;            // a head must save at least a tenth
constexpr std::size_t kLeastPairs = 1u << 24;  // below, looking for a head costs more than it saves

struct Projected {
  std::vector<std::uint32_t> rows;
  std::vector<float> values;  // rows x directions
  std::vector<double> norm_square, offset;
};

Projected project_sample(const FineOperand& side, const Directions& directions, std::uint64_t seed) {
  Random random(seed);
  Projected out;
  std::vector<float> row(side.stride);
  for (std::size_t s = 0; s < kSampleRows; ++s) {
    const std::size_t i = random.below(side.count);
    for (std::size_t k = 0; k < side.stride; ++k)
      row[k] = static_cast<float>(side.scale) * static_cast<float>(side.row(i)[k]);
    for (std::size_t p = 0; p < directions.count; ++p)
      out.values.push_back(inner_product(row.data(), directions.row(p), side.stride));
    out.rows.push_back(static_cast<std::uint32_t>(i));
    out.norm_square.push_back(static_cast<double>(side.norm[i]) * static_cast<double>(side.norm[i]));
    out.offset.push_back(side.offset[i]);
  }
  return out;
}

/// Energy of each sampled row in the first `depth` directions.
std::vector<double> head_squares(const Projected& side, std::size_t directions, std::size_t depth) {
  std::vector<double> squares;
  for (std::size_t s = 0; s < kSampleRows; ++s) {
    double sum = 0;
    for (std::size_t p = 0; p < depth; ++p) {
      const auto z = static_cast<double>(side.values[s * directions + p]);
      sum += z * z;
    }
    squares.push_back(std::min(sum, side.norm_square[s]));
  }
  return squares;
}

/// Share of sampled pairs that stay candidates when the first `depth` directions are scanned.
double candidate_share(const Projected& x, const Projected& y, std::size_t directions, std::size_t depth,
                       double threshold) {
  const std::vector<double> head_x = head_squares(x, directions, depth);
  const std::vector<double> head_y = head_squares(y, directions, depth);
  double tail_x = 1e-30, tail_y = 1e-30;
  for (std::size_t s = 0; s < kSampleRows; ++s)
    tail_x += x.norm_square[s] - head_x[s], tail_y += y.norm_square[s] - head_y[s];
  const double ratio = std::sqrt(tail_y / tail_x);
  std::size_t candidates = 0;
  for (std::size_t a = 0; a < kSampleRows; ++a)
    for (std::size_t b = 0; b < kSampleRows; ++b) {
      const float sum = inner_product(&x.values[a * directions], &y.values[b * directions], depth);
      const double tail =
          0.5 * (ratio * (x.norm_square[a] - head_x[a]) + (y.norm_square[b] - head_y[b]) / ratio);
      const double rounding = 2 * kQuantisation * std::sqrt(head_x[a] * head_y[b]);
      candidates += static_cast<double>(sum) + x.offset[a] + y.offset[b] + tail + rounding > threshold;
    }
  return static_cast<double>(candidates) / (kSampleRows * kSampleRows);
}

/// The same when whole rows are scanned.
double candidate_share_of_whole(const FinePrepared& fine, const Projected& x, const Projected& y,
                                const Kernel& kernel, double threshold) {
  std::vector<FinePair> pairs;
  for (const std::uint32_t row : x.rows)
    for (const std::uint32_t col : y.rows) pairs.push_back({row, col});
  std::vector<std::int64_t> products(pairs.size());
  kernel.fine({fine.x.values.data(), fine.y.values.data(), fine.x.stride, pairs.data(), pairs.size(),
               products.data()});
  std::size_t candidates = 0;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const double value = fine.x.scale * fine.y.scale * static_cast<double>(products[p]) +
                         fine.x.offset[pairs[p].row] + fine.y.offset[pairs[p].col];
    const double norms =
        static_cast<double>(fine.x.norm[pairs[p].row]) * static_cast<double>(fine.y.norm[pairs[p].col]);
    candidates += value + 2 * kQuantisation * norms > threshold;
  }
  return static_cast<double>(candidates) / static_cast<double>(pairs.size());
}

}  // namespace

std::optional<Head> choose_head(const FinePrepared& fine, const TailSample& sample, Shortcut shortcut,
                                const Kernel& kernel, const RunContext& run) {
  const std::size_t dim = fine.depth;
  const double pairs = static_cast<double>(fine.x.count) * static_cast<double>(fine.y.count);
  if (shortcut == Shortcut::off || dim < 2) return {};
  if (shortcut == Shortcut::automatic && (pairs < kLeastPairs || dim < 96)) return {};
  std::vector<std::size_t> depths;
  for (std::size_t depth = 32; depth <= std::min<std::size_t>(256, dim * 3 / 4); depth *= 2)
    depths.push_back(depth);
  if (depths.empty()) depths.push_back(std::max<std::size_t>(16, std::bit_floor(dim)));

  const Directions directions = leading_directions(fine, depths.back(), kernel, run);
  const Projected x = project_sample(fine.x, directions, 1), y = project_sample(fine.y, directions, 2);
  const double threshold = sample.estimate();
  // Nanoseconds a pair: int8 work by depth, int16 work by candidates, the projection spread over all.
  const double fine_cost = kernel.fine_cost * static_cast<double>(fine.x.stride);
  const double candidate_cost = kCandidateCost + fine_cost;
  double least = kernel.scan_cost * static_cast<double>(dim) +
                 candidate_cost * candidate_share_of_whole(fine, x, y, kernel, threshold);
  least *= shortcut == Shortcut::on ? INFINITY : kWorthwhile;
  std::size_t best = 0;
  for (const std::size_t depth : depths) {
    const double share = candidate_share(x, y, directions.count, depth, threshold);
    const double projection =
        2 * fine_cost * static_cast<double>(depth) * static_cast<double>(fine.x.count) / pairs;
    const double cost = kernel.scan_cost * static_cast<double>(depth) + candidate_cost * share + projection;
    if (cost < least) least = cost, best = depth;
  }
  if (best == 0) return {};
  return make_head(directions, best, kernel);
}

}  // namespace gcbs
