// The cost of a pair is that of its int8 product, which grows with the depth, plus that of an int16
// product when it is a candidate. A sample of pairs says how many candidates each depth leaves; the
// kernel says what the two products cost. With the head in two parts the second is multiplied for the
// blocks in which the first leaves a candidate: a sample of whole blocks in cluster order says how many.
#include "similarity/shortcut.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/random.h"
#include "similarity/cluster.h"

namespace gcbs {
namespace {

constexpr std::size_t kSampleRows = 192;       // of each side: all their pairs are looked at
constexpr double kQuantisation = 0.0095;       // typical |z - scale q| / |z|
constexpr double kScanOverhead = 48;           // compare and store, as so many bytes of depth
constexpr double kCandidateCost = 12;          // nanoseconds around the int16 product of a candidate
constexpr double kFineFactor = 1.5;            // its rows come from L2
constexpr double kClusterCost = 4000;          // nanoseconds a row of each side
constexpr std::size_t kProbePiece = 32;        // divides the depths that are tried
constexpr double kWorthwhile = 0.9;            // a shortcut must save at least a tenth
constexpr double kMostClusterShare = 0.1;      // of the time, before the gain is known
constexpr std::size_t kLeastPairs = 1u << 24;  // below, looking for a head costs more than it saves

std::vector<Vertex> random_rows(const FineOperand& side, std::uint64_t seed) {
  Random random(seed);
  std::vector<Vertex> rows(kSampleRows);
  for (Vertex& row : rows) row = static_cast<Vertex>(random.below(side.count));
  return rows;
}

/// Rows of whole units of a kernel, in the given order: random units, about kSampleRows rows.
std::vector<Vertex> random_units(const Array<Vertex>& order, std::size_t unit_rows, std::uint64_t seed) {
  Random random(seed);
  std::vector<Vertex> rows;
  const std::size_t units = order.size() / unit_rows;
  for (std::size_t taken = 0; units > 0 && taken < kSampleRows; taken += unit_rows) {
    const std::size_t unit = random.below(units);
    rows.insert(rows.end(), order.begin() + unit * unit_rows, order.begin() + (unit + 1) * unit_rows);
  }
  return rows;
}

/// Sampled rows of one side in the probe's directions.
struct Projected {
  std::size_t count, width;
  std::vector<float> values;  // count x width
  std::vector<double> norm_square, offset;

  Projected(const FineOperand& side, const std::vector<Vertex>& rows, const Head& probe, const Kernel& kernel)
      : count(rows.size()), width(probe.depth()), values(count * width) {
    Head::Buffers buffers;
    probe.project(side, rows, width, kernel, buffers, values.data());
    for (const Vertex i : rows) {
      norm_square.push_back(static_cast<double>(side.norm[i]) * static_cast<double>(side.norm[i]));
      offset.push_back(side.offset[i]);
    }
  }
};

/// The sampled pairs that stay candidates when the first directions are scanned, for each of the depths.
class Candidates {
 public:
  Candidates(const Projected& x, const Projected& y, const std::vector<std::size_t>& depths, double threshold)
      : rows_(x.count), cols_(y.count) {
    std::vector<float> sums(rows_ * cols_, 0.0f);
    std::vector<double> tail_x = x.norm_square, tail_y = y.norm_square;
    std::size_t before = 0;
    for (const std::size_t depth : depths) {
      const auto part = [&](const Projected& side, std::size_t s) {
        return side.values.data() + s * side.width + before;
      };
      const double ratio =
          std::sqrt(take_energy(y, before, depth, tail_y) / take_energy(x, before, depth, tail_x));
      std::vector<bool> bits(rows_ * cols_);
      for (std::size_t a = 0; a < rows_; ++a)
        for (std::size_t b = 0; b < cols_; ++b) {
          float& sum = sums[a * cols_ + b];
          sum += inner_product(part(x, a), part(y, b), depth - before);
          const double tail = 0.5 * (ratio * tail_x[a] + tail_y[b] / ratio);
          const double rounding =
              2 * kQuantisation * std::sqrt((x.norm_square[a] - tail_x[a]) * (y.norm_square[b] - tail_y[b]));
          bits[a * cols_ + b] =
              static_cast<double>(sum) + x.offset[a] + y.offset[b] + tail + rounding > threshold;
        }
      bits_.push_back(std::move(bits));
      before = depth;
    }
  }

  /// Share of pairs that are candidates at depth number d.
  double share(std::size_t d) const {
    const auto set = std::count(bits_[d].begin(), bits_[d].end(), true);
    return static_cast<double>(set) / static_cast<double>(std::max<std::size_t>(bits_[d].size(), 1));
  }

  /// Share of blocks of `rows` x `cols` pairs that hold a candidate.
  double share_of_blocks(std::size_t d, std::size_t rows, std::size_t cols) const {
    std::size_t blocks = 0, taken_up = 0;
    for (std::size_t a = 0; a + rows <= rows_; a += rows)
      for (std::size_t b = 0; b + cols <= cols_; b += cols, ++blocks) {
        bool any = false;
        for (std::size_t r = a; r < a + rows; ++r)
          for (std::size_t c = b; c < b + cols; ++c) any = any || bits_[d][r * cols_ + c];
        taken_up += any;
      }
    return static_cast<double>(taken_up) / static_cast<double>(std::max<std::size_t>(blocks, 1));
  }

 private:
  /// Takes the energy in directions [begin, end) from each row's tail; what is left of all.
  static double take_energy(const Projected& side, std::size_t begin, std::size_t end,
                            std::vector<double>& tail) {
    double left = 1e-30;
    for (std::size_t s = 0; s < side.count; ++s) {
      const float* z = side.values.data() + s * side.width + begin;
      tail[s] = std::max(0.0, tail[s] - static_cast<double>(inner_product(z, z, end - begin)));
      left += tail[s];
    }
    return left;
  }

  std::size_t rows_, cols_;
  std::vector<std::vector<bool>> bits_;  // a depth
};

/// Whole rows: the share of candidates, and how many directions the data seems to fill.
struct WholeRows {
  double candidates, directions;
};
WholeRows look_at_whole_rows(const FinePrepared& fine, const std::vector<Vertex>& x,
                             const std::vector<Vertex>& y, const Kernel& kernel, double threshold) {
  std::vector<FinePair> pairs;
  for (const Vertex row : x)
    for (const Vertex col : y) pairs.push_back({row, col});
  std::vector<std::int64_t> products(pairs.size());
  kernel.fine({fine.x.values.data(), fine.y.values.data(), fine.x.stride, pairs.data(), pairs.size(),
               products.data()});
  std::size_t candidates = 0;
  double squares = 0, norm_squares = 0;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    const double product = fine.x.scale * fine.y.scale * static_cast<double>(products[p]);
    const double norms =
        static_cast<double>(fine.x.norm[pairs[p].row]) * static_cast<double>(fine.y.norm[pairs[p].col]);
    candidates +=
        product + fine.x.offset[pairs[p].row] + fine.y.offset[pairs[p].col] + 2 * kQuantisation * norms >
        threshold;
    squares += product * product;
    norm_squares += norms * norms;
  }
  return {static_cast<double>(candidates) / static_cast<double>(pairs.size()),
          norm_squares / (squares + 1e-300)};
}

/// Nanoseconds a pair.
struct Costs {
  const Kernel& kernel;
  double fine, candidate;  // an int16 product; all of a candidate

  Costs(const Kernel& used, std::size_t stride)
      : kernel(used),
        fine(kernel.fine_cost * static_cast<double>(stride)),
        candidate(kCandidateCost + kFineFactor * fine) {}
  double scan(std::size_t depth) const {
    const std::size_t padded = coarse_layout(kernel.shape, depth).steps * 4;
    return kernel.scan_cost * (static_cast<double>(padded) + kScanOverhead);
  }
  std::size_t group() const { return static_cast<std::size_t>(kernel.shape.group_rows); }
  std::size_t panel() const { return static_cast<std::size_t>(kernel.shape.panel_columns); }
};

struct Choice {
  std::size_t first = 0, depth = 0;  // 0: none
  double cost = INFINITY;
};

/// The best head in one part.
Choice best_in_one(const std::vector<std::size_t>& depths, const Candidates& candidates, const Costs& costs,
                   std::size_t rows) {
  Choice best;
  for (std::size_t d = 0; d < depths.size(); ++d) {
    const double projection = 2 * costs.fine * static_cast<double>(depths[d]) / static_cast<double>(rows);
    const double cost = costs.scan(depths[d]) + projection + costs.candidate * candidates.share(d);
    if (cost < best.cost) best = {depths[d], depths[d], cost};
  }
  return best;
}

/// The best head in two parts; the sample holds whole blocks.
Choice best_in_two(const std::vector<std::size_t>& depths, const Candidates& candidates, const Costs& costs,
                   std::size_t rows) {
  Choice best;
  for (std::size_t f = 0; f < depths.size(); ++f) {
    const double blocks = candidates.share_of_blocks(f, costs.group(), costs.panel());
    for (std::size_t d = f + 1; d < depths.size(); ++d) {
      const double once =
          (2 * kClusterCost + 2 * costs.fine * static_cast<double>(depths[d])) / static_cast<double>(rows);
      const double cost = costs.scan(depths[f]) + blocks * costs.scan(depths[d] - depths[f]) +
                          costs.candidate * candidates.share(d) + once;
      if (cost < best.cost) best = {depths[f], depths[d], cost};
    }
  }
  return best;
}

}  // namespace

std::optional<Head> choose_shortcut(FinePrepared& fine, const TailSample& sample, Shortcut shortcut,
                                    bool keep_order, const Kernel& kernel, const RunContext& run) {
  const std::size_t dim = fine.depth;
  const bool forced = shortcut == Shortcut::on;
  if (shortcut == Shortcut::off || dim < 2) return {};
  if (!forced && (fine.x.count * fine.y.count < kLeastPairs || dim < 96)) return {};
  std::vector<std::size_t> depths;
  for (const std::size_t depth : {32, 64, 96, 128, 192, 256})
    if (depth <= dim / 2) depths.push_back(depth);
  if (depths.empty()) depths.push_back(std::max<std::size_t>(16, std::bit_floor(dim)));

  const double threshold = sample.estimate();
  const Costs costs(kernel, fine.x.stride);
  const std::vector<Vertex> rows_x = random_rows(fine.x, 1), rows_y = random_rows(fine.y, 2);
  const WholeRows whole = look_at_whole_rows(fine, rows_x, rows_y, kernel, threshold);
  if (!forced && whole.directions > static_cast<double>(dim) / 3) return {};
  const Directions directions = leading_directions(fine, depths.back(), kernel, run);
  const Head probe = make_head(directions, depths.back(), depths.back(), kernel, kProbePiece);
  const Projected x(fine.x, rows_x, probe, kernel), y(fine.y, rows_y, probe, kernel);
  const Candidates candidates(x, y, depths, threshold);
  const Choice one = best_in_one(depths, candidates, costs, fine.x.count);
  const double whole_cost = costs.scan(dim) + costs.candidate * whole.candidates;
  if (!forced && one.cost > kWorthwhile * whole_cost) return {};

  const double cluster_cost = 2 * kClusterCost / static_cast<double>(fine.x.count);
  if (!keep_order && depths.size() > 1 && (forced || cluster_cost < kMostClusterShare * one.cost)) {
    const PlaceOrder order = cluster_order(fine, probe, kernel, run);
    const Projected in_x(fine.x, random_units(order.x, costs.group(), 3), probe, kernel);
    const Projected in_y(fine.y, random_units(order.y, costs.panel(), 4), probe, kernel);
    const Candidates in_blocks(in_x, in_y, depths, threshold);
    const Choice two = best_in_two(depths, in_blocks, costs, fine.x.count);
    if (forced || two.cost < kWorthwhile * best_in_one(depths, in_blocks, costs, fine.x.count).cost) {
      reorder(fine, order, run);
      return make_head(directions, two.first, two.depth, kernel);
    }
  }
  return make_head(directions, one.depth, one.depth, kernel);
}

}  // namespace gcbs
