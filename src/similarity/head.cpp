// Finding the head.
//
// Any nearly orthonormal basis is correct: what it leaves out goes into the tail norms, how far it
// is from orthonormal into `defect`. A good one needs no precision either, so the matrix products of
// the subspace iteration run on int16 rows through the kernel's own exact leaf operation.
// Cost: two rounds of (sample x count) + (dim x count) int16 dot products, and count^2 x dim
// float32 operations to orthogonalise.
#include "similarity/head.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/random.h"

namespace gcbs {
namespace {

constexpr std::size_t kLanes = 16, kSampleRows = 512, kRounds = 2;

/// Rows of int16 for the leaf operation, each with a scale of its own.
struct IntRows {
  std::size_t count, stride;
  Array<std::int16_t> values;
  std::vector<double> scale;

  IntRows(std::size_t rows, std::size_t dim)
      : count(rows), stride((dim + 31) / 32 * 32), values(rows * stride, std::int16_t{0}), scale(rows, 1.0) {}

  /// The largest factor that keeps values within int16 and lane norms below 2^15.5.
  template <class Row>
  static double fitting_factor(const Row* row, std::size_t dim) {
    double lanes[kLanes] = {}, largest = 0;
    for (std::size_t k = 0; k < dim; ++k) {
      const auto value = static_cast<double>(row[k]);
      lanes[k / 2 % kLanes] += value * value;
      largest = std::max(largest, std::abs(value));
    }
    const double lane = std::sqrt(*std::max_element(lanes, lanes + kLanes));
    if (!(lane > 0)) return 1;
    return std::min(46000 / lane, 32000 / largest);
  }

  template <class Row>
  void set(std::size_t r, const Row* row, std::size_t dim, double factor) {
    std::int16_t* out = values.data() + r * stride;
    for (std::size_t k = 0; k < dim; ++k)
      out[k] = static_cast<std::int16_t>(std::lrint(static_cast<double>(row[k]) * factor));
    scale[r] = 1 / factor;
  }
};

/// out[a * b.count + b] = the product of row a and row b: exact as an integer, rounded to `Value`.
template <class Value = float>
std::vector<Value> products(const IntRows& a, const IntRows& b, const Kernel& kernel, const RunContext& run) {
  std::vector<Value> out(a.count * b.count);
  parallel_for(run, a.count, 16, [&](std::size_t begin, std::size_t end, unsigned) {
    std::vector<FinePair> pairs;
    for (std::size_t r = begin; r < end; ++r)
      for (std::size_t c = 0; c < b.count; ++c)
        pairs.push_back({static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(c)});
    std::vector<std::int64_t> sums(pairs.size());
    kernel.fine({a.values.data(), b.values.data(), a.stride, pairs.data(), pairs.size(), sums.data()});
    for (std::size_t p = 0; p < pairs.size(); ++p)
      out[pairs[p].row * b.count + pairs[p].col] =
          static_cast<Value>(static_cast<double>(sums[p]) * a.scale[pairs[p].row] * b.scale[pairs[p].col]);
  });
  return out;
}

/// Row c of `out` becomes column c of the `rows` x `cols` values.
void set_transposed(IntRows& out, const float* values, std::size_t rows, std::size_t cols,
                    const RunContext& run) {
  parallel_for(run, cols, 16, [&](std::size_t begin, std::size_t end, unsigned) {
    std::vector<float> turned((end - begin) * rows);
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = begin; c < end; ++c) turned[(c - begin) * rows + r] = values[r * cols + c];
    for (std::size_t c = begin; c < end; ++c) {
      const float* row = turned.data() + (c - begin) * rows;
      out.set(c, row, rows, IntRows::fitting_factor(row, rows));
    }
  });
}

/// Takes from `row` its share in each of the rows [begin, end).
void subtract_shares(const Directions& d, std::size_t begin, std::size_t end, float* row) {
  for (std::size_t q = begin; q < end; ++q) {
    const float share = inner_product(row, d.row(q), d.stride);
    for (std::size_t k = 0; k < d.stride; ++k) row[k] -= share * d.row(q)[k];
  }
}

/// Gram-Schmidt, a block of rows at a time, so that the rows after it can be done in parallel; again where
/// much was taken away. A row that vanishes is replaced by a random one.
void orthonormalise(Directions& d, Random& random, const RunContext& run) {
  constexpr std::size_t kBlock = 32;
  constexpr float kMuch = 0.05f, kAll = 1e-4f;
  const auto norm_of = [&](const float* row) { return std::sqrt(inner_product(row, row, d.stride)); };
  std::vector<float> before;
  for (std::size_t p = 0; p < d.count; ++p) before.push_back(norm_of(d.row(p)));
  for (std::size_t begin = 0; begin < d.count; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, d.count);
    for (std::size_t p = begin; p < end; ++p) {
      float* row = d.values.data() + p * d.stride;
      subtract_shares(d, begin, p, row);
      float norm = norm_of(row);
      for (int attempt = 0; attempt < 16 && !(norm > kMuch * before[p] && norm > 1e-30f); ++attempt) {
        const bool vanished = !(norm > kAll * before[p] && norm > 1e-30f);
        for (std::size_t k = 0; k < d.stride; ++k)
          row[k] = vanished ? static_cast<float>(random.below(2001)) - 1000.0f : row[k] / norm;
        before[p] = norm_of(row);
        subtract_shares(d, 0, p, row);
        norm = norm_of(row);
      }
      for (std::size_t k = 0; k < d.stride; ++k) row[k] /= norm;
    }
    parallel_for(run, d.count - end, 8, [&](std::size_t first, std::size_t last, unsigned) {
      for (std::size_t p = end + first; p < end + last; ++p)
        subtract_shares(d, begin, end, d.values.data() + p * d.stride);
    });
  }
}

/// An orthogonal mix of `count` rows, a power of two: random signs, then a Walsh-Hadamard transform.
void mix(float* rows, std::size_t count, std::size_t stride, Random& random) {
  const auto shrink = static_cast<float>(1 / std::sqrt(static_cast<double>(count)));
  for (std::size_t p = 0; p < count; ++p) {
    const float sign = random.next() >> 63 != 0 ? -shrink : shrink;
    for (std::size_t k = 0; k < stride; ++k) rows[p * stride + k] *= sign;
  }
  for (std::size_t half = 1; half < count; half *= 2)
    for (std::size_t p = 0; p < count; ++p)
      if ((p & half) == 0)
        for (std::size_t k = 0; k < stride; ++k) {
          const float a = rows[p * stride + k], b = rows[(p + half) * stride + k];
          rows[p * stride + k] = a + b;
          rows[(p + half) * stride + k] = a - b;
        }
}

}  // namespace

float inner_product(const float* a, const float* b, std::size_t dim) noexcept {
  float lanes[16] = {};
  for (std::size_t k = 0; k < dim; k += 16)
    for (std::size_t l = 0; l < 16; ++l) lanes[l] += a[k + l] * b[k + l];
  float sum = 0;
  for (const float lane : lanes) sum += lane;
  return sum;
}

Head::Head(std::size_t first, std::size_t depth, std::size_t stride, Array<std::int16_t> basis, double scale,
           double defect)
    : first_(first),
      depth_(depth),
      stride_(stride),
      basis_(std::move(basis)),
      scale_(scale),
      defect_(defect) {}

void Head::project(const FineOperand& side, std::span<const Vertex> rows, std::size_t width,
                   const Kernel& kernel, Buffers& buffers, float* out) const {
  constexpr std::size_t kTogether = 16;  // directions that stay in L1 for all rows
  const double scale = side.scale * scale_;
  for (std::size_t first = 0; first < width; first += kTogether) {
    const std::size_t count = std::min(kTogether, width - first);
    buffers.pairs.resize(rows.size() * count);
    buffers.products.resize(rows.size() * count);
    FinePair* pair = buffers.pairs.data();
    for (const Vertex row : rows)
      for (std::size_t p = first; p < first + count; ++p)
        *pair++ = {static_cast<std::uint32_t>(row), static_cast<std::uint32_t>(p)};
    kernel.fine({side.values.data(), basis_.data(), stride_, buffers.pairs.data(), buffers.pairs.size(),
                 buffers.products.data()});
    const std::int64_t* product = buffers.products.data();
    for (std::size_t r = 0; r < rows.size(); ++r)
      for (std::size_t p = first; p < first + count; ++p)
        out[r * width + p] = static_cast<float>(scale * static_cast<double>(*product++));
  }
}

Directions leading_directions(const FinePrepared& fine, std::size_t count, const Kernel& kernel,
                              const RunContext& run) {
  const std::size_t dim = fine.depth;
  const std::size_t from_x = std::min(fine.x.count, kSampleRows),
                    from_y = std::min(fine.y.count, kSampleRows);
  const std::size_t sampled = from_x + from_y;
  // The sample as int16 rows, and transposed. Sides have scales of their own; bring them to one.
  IntRows rows(sampled, dim), columns(dim, sampled);
  std::vector<float> values(sampled * dim);
  parallel_for(run, sampled, 64, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t s = begin; s < end; ++s) {
      const bool is_x = s < from_x;
      const FineOperand& side = is_x ? fine.x : fine.y;
      const std::size_t taken = is_x ? from_x : from_y, index = is_x ? s : s - from_x;
      const std::int16_t* row = side.row(index * side.count / taken);
      float* value = values.data() + s * dim;
      for (std::size_t k = 0; k < dim; ++k)
        value[k] = static_cast<float>(side.scale) * static_cast<float>(row[k]);
      rows.set(s, value, dim, IntRows::fitting_factor(value, dim));
    }
  });
  set_transposed(columns, values.data(), sampled, dim, run);

  Random random(0x9C0FFEE);
  Directions d{count, (dim + 31) / 32 * 32, {}};
  d.values.assign(count * d.stride, 0.0f);
  for (std::size_t p = 0; p < count; ++p)
    for (std::size_t k = 0; k < dim; ++k)
      d.values[p * d.stride + k] = static_cast<float>(random.below(2001)) - 1000.0f;
  IntRows basis(count, dim), images(count, sampled);
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t p = 0; p < count; ++p)
      basis.set(p, d.row(p), dim, IntRows::fitting_factor(d.row(p), dim));
    const std::vector<float> image = products(rows, basis, kernel, run);  // sampled x count
    set_transposed(images, image.data(), sampled, count, run);
    const std::vector<float> back = products(images, columns, kernel, run);  // count x dim
    // Powers of the leading value can leave float32's range: each row scaled.
    for (std::size_t p = 0; p < count; ++p) {
      const float* from = back.data() + p * dim;
      float largest = 0;
      for (std::size_t k = 0; k < dim; ++k) largest = std::max(largest, std::abs(from[k]));
      for (std::size_t k = 0; k < dim; ++k)
        d.values[p * d.stride + k] = largest > 0 ? from[k] / largest : 0.0f;
    }
    orthonormalise(d, random, run);
    run.check_stop();
  }
  return d;
}

Head make_head(const Directions& directions, std::size_t first, std::size_t depth, const Kernel& kernel,
               std::size_t piece) {
  const std::size_t stride = directions.stride;
  std::vector<float> mixed(directions.values.begin(),
                           directions.values.begin() + static_cast<std::ptrdiff_t>(depth * stride));
  Random random(0x5EED);
  for (std::size_t begin = 0, count = 0; begin < depth; begin += count) {
    count = std::bit_floor(std::min((begin < first ? first : depth) - begin, piece));
    mix(mixed.data() + begin * stride, count, stride, random);
  }
  double factor = INFINITY;
  for (std::size_t p = 0; p < depth; ++p)
    factor = std::min(factor, IntRows::fitting_factor(mixed.data() + p * stride, stride));
  IntRows basis(depth, stride);
  for (std::size_t p = 0; p < depth; ++p) basis.set(p, mixed.data() + p * stride, stride, factor);
  // The distance of Q^T Q from the identity, from exact integers.
  const std::vector<double> gram = products<double>(basis, basis, kernel, RunContext{});
  double squares = 0;
  for (std::size_t p = 0; p < depth; ++p)
    for (std::size_t q = 0; q < depth; ++q) {
      const double off = gram[p * depth + q] - (p == q ? 1 : 0);
      squares += off * off;
    }
  const double defect = std::sqrt(squares) * (1 + 0x1p-30) + 0x1p-40;
  return Head(first, depth, stride, std::move(basis.values), 1 / factor, defect);
}

}  // namespace gcbs
