// Rows (or their heads) as int8, packed for a kernel.
//
// Requires: fine operands. Ensures: |z - scale q| <= error, |z| <= norm, |x' outside the head| <=
// tail as real numbers; |q| <= the shape's max_value; depth * max|q|^2 <= 2^28; with int16 lanes,
// each lane of a segment has a squared norm of at most 32,767. Cost: one pass over the int16 rows.
//
// One scale a side makes the test of a pair integer only. It is the one that makes the mean error of
// a sample of rows least, clipping and lane limits included: a smaller step rounds less and clips more.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "similarity/head.h"
#include "similarity/operand.h"

namespace gcbs {
namespace {

constexpr double kUnit32 = 0x1p-24;
constexpr float kRound = 0x1.8p23f;
constexpr std::size_t kSums = 16;        // partial sums of squares
constexpr std::size_t kWidenSteps = 16;  // measured on AVX2: fewer costs time, more costs precision
constexpr float kLaneSquareLimit = 32767;
constexpr double kLeastScaleProduct = 0x1p-26;
constexpr std::size_t kScaleSample = 64;

/// The rows z of one side as float32, whole or head.
class Source {
 public:
  Source(const FineOperand& side, const Head* head, const Kernel& kernel, std::size_t depth)
      : side_(side), head_(head), kernel_(kernel), depth_(depth) {}

  /// Loads z of rows [begin, end); row i is then at z(i - begin).
  void load(std::size_t begin, std::size_t end) {
    values_.resize((end - begin) * depth_);
    if (head_ != nullptr) {
      rows_.resize(end - begin);
      std::iota(rows_.begin(), rows_.end(), static_cast<Vertex>(begin));
      head_->project(side_, rows_, depth_, kernel_, buffers_, values_.data());
      return;
    }
    const auto scale = static_cast<float>(side_.scale);
    for (std::size_t i = begin; i < end; ++i) {
      const std::int16_t* p = side_.row(i);
      float* z = values_.data() + (i - begin) * depth_;
      for (std::size_t k = 0; k < depth_; ++k) z[k] = scale * static_cast<float>(p[k]);
    }
  }
  const float* z(std::size_t r) const { return values_.data() + r * depth_; }

 private:
  const FineOperand& side_;
  const Head* head_;
  const Kernel& kernel_;
  std::size_t depth_;
  std::vector<float> values_;
  std::vector<Vertex> rows_;
  Head::Buffers buffers_;
};

/// Makes one lane of a segment fit: takes one off its largest entry (the first of equals) until it does.
/// `lane` points to its first entry; two of every four values belong to it. Entries are integers.
void shrink_lane(float* lane, std::size_t steps, float square) {
  constexpr int kValues = 128;
  const auto entry = [lane](std::size_t e) -> float& { return lane[e / 2 * 4 + e % 2]; };
  const std::size_t entries = 2 * steps;
  std::uint32_t count[kValues] = {};  // entries by size
  for (std::size_t e = 0; e < entries; ++e) ++count[static_cast<int>(std::fabs(entry(e)))];
  int top = kValues - 1;
  auto excess = static_cast<std::int64_t>(square) - static_cast<std::int64_t>(kLaneSquareLimit);
  std::uint32_t last = 0;  // entries of size `top` to be made one smaller
  for (;; --top) {
    const std::int64_t gain = 2 * top - 1;
    if (count[top] * gain >= excess) {
      last = static_cast<std::uint32_t>((excess + gain - 1) / gain);
      break;
    }
    excess -= count[top] * gain;
    count[top - 1] += count[top];
  }
  const auto cap = static_cast<float>(top);
  for (std::size_t e = 0; e < entries; ++e) {
    const float size = std::fabs(entry(e));
    if (size < cap) continue;
    entry(e) = std::copysign(last > 0 ? cap - 1 : cap, entry(e));
    if (last > 0) --last;
  }
}

struct Squares {
  double error = 0, z = 0;  ///< upper bounds of |z - scale q|^2 and |z|^2 for the float32 z
};

/// z -> q for one layout; q is padded with zeros to layout.steps * 4.
class Quantiser {
 public:
  /// `depth`: of all parts together.
  Quantiser(const KernelShape& shape, const CoarseLayout& layout, std::size_t depth)
      : layout_(layout), lanes_(shape.start == KernelShape::Start::lanes), rounded_(layout.steps * 4, 0.0f) {
    const double fits = std::floor(std::sqrt(0x1p28 / static_cast<double>(std::max<std::size_t>(depth, 1))));
    max_value_ = static_cast<float>(std::min<double>(shape.max_value, fits));
  }

  /// Integers of at most 127 and sums of their squares below 2^24 are exact in float32.
  Squares quantise(const float* z, float scale, std::int8_t* q) {
    const float inverse = 1 / scale;
    float* r = rounded_.data();
    for (std::size_t k = 0; k < layout_.depth; ++k) {
      const float clipped = std::min(std::max(z[k] * inverse, -max_value_), max_value_);
      r[k] = (clipped + kRound) - kRound;
    }
    if (lanes_) fit_lanes();
    float errors[kSums] = {}, squares[kSums] = {};
    std::size_t k = 0;
    for (; k + kSums <= layout_.depth; k += kSums)
      for (std::size_t l = 0; l < kSums; ++l) {
        const float error = z[k + l] - scale * r[k + l];
        errors[l] += error * error;
        squares[l] += z[k + l] * z[k + l];
      }
    for (; k < layout_.depth; ++k) {
      const float error = z[k] - scale * r[k];
      errors[k % kSums] += error * error;
      squares[k % kSums] += z[k] * z[k];
    }
    for (k = 0; k < layout_.steps * 4; ++k) q[k] = static_cast<std::int8_t>(static_cast<int>(r[k]));
    Squares sum;
    for (std::size_t l = 0; l < kSums; ++l)
      sum.error += static_cast<double>(errors[l]), sum.z += static_cast<double>(squares[l]);
    const double slack = 1 + (static_cast<double>(layout_.depth) / kSums + 8) * 2 * kUnit32;
    sum.error = sum.error * slack + 0x1p-120;
    sum.z = sum.z * slack + 0x1p-120;
    return sum;
  }

 private:
  void fit_lanes() {
    for (std::size_t step = 0; step < layout_.steps; step += layout_.widen) {
      float* segment = rounded_.data() + step * 4;
      float squares[4] = {};
      for (std::size_t s = 0; s < layout_.widen; ++s)
        for (std::size_t b = 0; b < 4; ++b) squares[b] += segment[s * 4 + b] * segment[s * 4 + b];
      for (std::size_t lane = 0; lane < 2; ++lane) {
        const float square = squares[2 * lane] + squares[2 * lane + 1];
        if (square > kLaneSquareLimit) shrink_lane(segment + 2 * lane, layout_.widen, square);
      }
    }
  }

  CoarseLayout layout_;
  bool lanes_;
  float max_value_;
  std::vector<float> rounded_;  ///< zeros beyond the depth
};

/// z -> q for each part of the depth in turn.
class Quantisers {
 public:
  Quantisers(const KernelShape& shape, const std::vector<CoarsePart>& parts) {
    std::size_t depth = 0;
    for (const CoarsePart& part : parts) depth += part.layout.depth;
    for (const CoarsePart& part : parts) {
      quantisers_.emplace_back(shape, part.layout, depth);
      depths_.push_back(part.layout.depth);
      q_.emplace_back(part.layout.steps * 4);
    }
  }

  /// Calls take(part, q, squares so far) for each part.
  template <class Take>
  void quantise(const float* z, float scale, Take&& take) {
    Squares sum;
    for (std::size_t p = 0; p < quantisers_.size(); z += depths_[p], ++p) {
      const Squares squares = quantisers_[p].quantise(z, scale, q_[p].data());
      sum.error += squares.error;
      sum.z += squares.z;
      take(p, q_[p].data(), sum);
    }
  }

 private:
  std::vector<Quantiser> quantisers_;
  std::vector<std::size_t> depths_;
  std::vector<std::vector<std::int8_t>> q_;
};

/// The scale with the least mean error on a sample; 0 where every sampled z is zero.
double choose_scale(const FineOperand& side, Source& source, Quantisers& quantisers, std::size_t depth) {
  const std::size_t step = std::max<std::size_t>(1, side.count / kScaleSample);
  std::vector<float> sample;
  double square = 0;
  for (std::size_t i = 0; i < side.count; i += step) {
    source.load(i, i + 1);
    sample.insert(sample.end(), source.z(0), source.z(0) + depth);
    for (std::size_t k = 0; k < depth; ++k)
      square += static_cast<double>(source.z(0)[k]) * static_cast<double>(source.z(0)[k]);
  }
  const double rms = std::sqrt(square / static_cast<double>(sample.size()));
  if (!(rms > 0)) return 0;
  double best_error = INFINITY, best_scale = rms;
  for (double units = 10; units < 90; units *= 1.1) {
    const auto scale = static_cast<float>(rms / units);
    double error = 0;
    for (std::size_t row = 0; row < sample.size(); row += depth) {
      double row_square = 0;
      quantisers.quantise(sample.data() + row, scale,
                          [&](std::size_t, const std::int8_t*, Squares sum) { row_square = sum.error; });
      error += std::sqrt(row_square);
    }
    if (error < best_error) best_error = error, best_scale = static_cast<double>(scale);
  }
  return best_scale;
}

/// Writes one row into its place in a group of X.
void pack_x(const std::int8_t* q, const KernelShape& shape, const CoarseLayout& layout, std::size_t row,
            std::uint8_t* group) {
  const auto rows = static_cast<std::size_t>(shape.group_rows);
  const auto chunk = static_cast<std::size_t>(shape.chunk_bytes);
  const std::size_t segment_steps = shape.start == KernelShape::Start::lanes ? layout.widen : layout.steps;
  for (std::size_t step = 0; step < layout.steps; step += segment_steps) {
    const std::int8_t* segment = q + step * 4;
    if (shape.start != KernelShape::Start::none) {
      int sums[2] = {};
      for (std::size_t s = 0; s < segment_steps; ++s)
        for (std::size_t lane = 0; lane < 2; ++lane)
          sums[lane] += segment[s * 4 + 2 * lane] + segment[s * 4 + 2 * lane + 1];
      std::uint32_t start = static_cast<std::uint32_t>(-shape.y_shift * (sums[0] + sums[1]));
      if (shape.start == KernelShape::Start::lanes)
        start = (static_cast<std::uint32_t>(-shape.y_shift * sums[0]) & 0xFFFFu) |
                static_cast<std::uint32_t>(-shape.y_shift * sums[1]) << 16;
      std::memcpy(group + row * 4, &start, sizeof start);
      group += rows * 4;
    }
    for (std::size_t b = 0; b < segment_steps * 4; b += chunk, group += rows * chunk)
      std::memcpy(group + row * chunk, segment + b, chunk);
  }
}

/// Writes one column into its place in a panel of Y.
void pack_y(const std::int8_t* q, const KernelShape& shape, const CoarseLayout& layout, std::size_t column,
            std::uint8_t* panel) {
  std::uint8_t* line = panel + column / 16 * layout.steps * 64 + column % 16 * 4;
  for (std::size_t step = 0; step < layout.steps; ++step, line += 64)
    for (std::size_t b = 0; b < 4; ++b) line[b] = static_cast<std::uint8_t>(q[step * 4 + b] + shape.y_shift);
}

float rounded_up(double value) { return std::nextafter(static_cast<float>(value), INFINITY); }

/// Upper bound of |x' outside the head| (docs/bounds.md, "head").
double tail_bound(double norm, double z_square_low, double slip, double defect) {
  const double z_low = std::max(0.0, std::sqrt(z_square_low) - slip);
  return std::sqrt(std::max(0.0, norm * norm * (1 + defect) * (1 + 0x1p-40) - z_low * z_low));
}

struct Sizes {
  std::size_t unit_rows, unit_bytes;
};
Sizes unit_sizes(const KernelShape& shape, const CoarseLayout& layout, bool is_x) {
  if (!is_x) {
    const auto columns = static_cast<std::size_t>(shape.panel_columns);
    return {columns, columns / 16 * layout.steps * 64};
  }
  const auto rows = static_cast<std::size_t>(shape.group_rows);
  const std::size_t starts = shape.start == KernelShape::Start::none  ? 0
                             : shape.start == KernelShape::Start::sum ? 1
                                                                      : layout.steps / layout.widen;
  return {rows, rows * 4 * (layout.steps + starts)};
}

/// Space for one side of one part.
void allocate(CoarseOperand& out, std::size_t count, Sizes sizes, bool head, const RunContext& run) {
  out.unit_rows = sizes.unit_rows;
  out.unit_bytes = sizes.unit_bytes;
  out.units = (count + sizes.unit_rows - 1) / sizes.unit_rows;
  out.values = Array<std::uint8_t>(out.units * sizes.unit_bytes, run.meter);
  out.error = Array<float>(count, run.meter);
  out.norm = Array<float>(count, run.meter);
  if (head) out.tail = Array<float>(count, run.meter);
  std::memset(out.values.data() + (out.units - 1) * sizes.unit_bytes, 0, sizes.unit_bytes);
}

void pack_side(std::vector<CoarsePart>& parts, CoarseOperand CoarsePart::*which, const FineOperand& side,
               const Head* head, const Kernel& kernel, std::size_t depth, const RunContext& run) {
  const bool is_x = which == &CoarsePart::x;
  for (CoarsePart& part : parts)
    allocate(part.*which, side.count, unit_sizes(kernel.shape, part.layout, is_x), head != nullptr, run);
  const std::size_t unit_rows = (parts[0].*which).unit_rows;
  const auto scale = static_cast<float>((parts[0].*which).scale);
  const double defect = head == nullptr ? 0 : head->defect();

  parallel_for(
      run, (parts[0].*which).units, std::max<std::size_t>(1, 64 / unit_rows),
      [&](std::size_t begin, std::size_t end, unsigned) {
        const std::size_t first = begin * unit_rows, last = std::min(side.count, end * unit_rows);
        Source source(side, head, kernel, depth);
        source.load(first, last);
        Quantisers quantisers(kernel.shape, parts);
        for (std::size_t i = first; i < last; ++i)
          quantisers.quantise(
              source.z(i - first), scale, [&](std::size_t p, const std::int8_t* q, const Squares& squares) {
                CoarseOperand& out = parts[p].*which;
                // z in float32 is the true one up to its rounding (4 units) and the error of the int16 row.
                const double slip =
                    (1 + defect) * static_cast<double>(side.error[i]) + 4 * kUnit32 * std::sqrt(squares.z);
                out.error[i] = rounded_up(std::sqrt(squares.error) + slip);
                out.norm[i] = rounded_up(std::sqrt(squares.z) + slip);
                if (head != nullptr) {
                  const double z_square_low = squares.z * (1 - static_cast<double>(depth + 64) * 4 * kUnit32);
                  out.tail[i] = rounded_up(tail_bound(static_cast<double>(side.norm[i]),
                                                      std::max(0.0, z_square_low), slip, defect));
                }
                std::uint8_t* unit = out.values.data() + i / unit_rows * out.unit_bytes;
                if (is_x)
                  pack_x(q, kernel.shape, parts[p].layout, i % unit_rows, unit);
                else
                  pack_y(q, kernel.shape, parts[p].layout, i % unit_rows, unit);
              });
      });
}

}  // namespace

CoarseLayout coarse_layout(const KernelShape& shape, std::size_t depth) {
  CoarseLayout layout;
  layout.depth = depth;
  const std::size_t steps = (depth + 3) / 4;
  if (shape.start == KernelShape::Start::lanes) {
    const std::size_t segments = (steps + kWidenSteps - 1) / kWidenSteps;
    layout.widen = ((steps + segments - 1) / segments + 1) / 2 * 2;  // even
    layout.steps = layout.widen * segments;
  } else {
    const auto unit = static_cast<std::size_t>(shape.chunk_bytes) / 4;
    layout.steps = (steps + unit - 1) / unit * unit;
    layout.widen = layout.steps;
  }
  return layout;
}

CoarsePrepared prepare_coarse(const FinePrepared& fine, const Head* head, const Kernel& kernel,
                              const RunContext& run) {
  CoarsePrepared coarse;
  const std::size_t depth = head != nullptr ? head->depth() : fine.depth;
  const std::size_t first = head != nullptr ? head->first() : depth;
  coarse.parts.resize(first < depth ? 2 : 1);
  coarse.parts[0].layout = coarse_layout(kernel.shape, first);
  if (first < depth) coarse.parts[1].layout = coarse_layout(kernel.shape, depth - first);
  coarse.defect = head != nullptr ? head->defect() : 0;
  Quantisers quantisers(kernel.shape, coarse.parts);
  Source source_x(fine.x, head, kernel, depth), source_y(fine.y, head, kernel, depth);
  double scale_x = choose_scale(fine.x, source_x, quantisers, depth);
  double scale_y = choose_scale(fine.y, source_y, quantisers, depth);
  // Offsets and limits, a few units at most, divided by the product of the scales must fit 2^28.
  if (scale_x == 0) scale_x = 0x1p-13;
  if (scale_y == 0) scale_y = 0x1p-13;
  const double stretch = std::sqrt(std::max(1.0, kLeastScaleProduct / (scale_x * scale_y)));
  for (CoarsePart& part : coarse.parts) {
    part.x.scale = static_cast<double>(static_cast<float>(scale_x * stretch * (1 + 0x1p-20)));
    part.y.scale = static_cast<double>(static_cast<float>(scale_y * stretch * (1 + 0x1p-20)));
  }
  pack_side(coarse.parts, &CoarsePart::x, fine.x, head, kernel, depth, run);
  pack_side(coarse.parts, &CoarsePart::y, fine.y, head, kernel, depth, run);
  return coarse;
}

}  // namespace gcbs
