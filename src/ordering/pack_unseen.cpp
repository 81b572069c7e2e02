// Pairs below the threshold, to the first order.
//
// An edge adds e^(s / tau) to two sums. A pair without one adds e^(s / tau) too, on average u, and as a
// function of s about u (1 + (s - mean) / tau): a straight line, so that what all pairs of a block add is a
// product of two vectors, the sums of the block's centred rows. Each such pair is little, but they are nearly
// all there are, and where the graph holds a small part of the mass (uniform rows, warm temperatures) the
// sum of them says more about a block than its edges do.
//
// Cost: three products of d values for each swap that is evaluated, 8 d bytes a block. Rows are int16, the
// same on every machine; sums are float32 in eight lanes of fixed order.
#include "ordering/pack_unseen.h"

#include <algorithm>

namespace gcbs {
namespace {

constexpr std::size_t kLanes = 8;

double added(const float (&lanes)[kLanes]) noexcept {
  double sum = 0;
  for (const float lane : lanes) sum += static_cast<double>(lane);
  return sum;
}

}  // namespace

BlockSums::BlockSums(const UnseenPairs& unseen, std::span<const Vertex> order, std::size_t block_size,
                     const RunContext& run)
    : rows_(*unseen.rows),
      weight_(unseen.weight),
      stride_(rows_.x.stride),
      sums_(2 * stride_ * ((order.size() + block_size - 1) / block_size), 0.0f, run.meter) {
  const std::size_t blocks = sums_.size() / (2 * stride_);
  parallel_for(run, blocks, 4, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t block = begin; block < end; ++block) {
      float* const sums = sums_.data() + 2 * block * stride_;
      const std::size_t first = block * block_size;
      for (const Vertex v : order.subspan(first, std::min(block_size, order.size() - first)))
        for (std::size_t k = 0; k < stride_; ++k) {
          sums[k] += static_cast<float>(x(v)[k]);
          sums[stride_ + k] += static_cast<float>(y(v)[k]);
        }
    }
  });
}

// With dx = x_v - x_u and dy = y_v - y_u, block p's sums become x + dx and y + dy, block q's the opposite.
double BlockSums::gain_of_swap(Vertex u, std::size_t p, Vertex v, std::size_t q) const noexcept {
  const std::int16_t *const x_u = x(u), *const x_v = x(v), *const y_u = y(u), *const y_v = y(v);
  const float *const x_p = sum_x(p), *const x_q = sum_x(q), *const y_p = sum_y(p), *const y_q = sum_y(q);
  float lanes[kLanes] = {};
  for (std::size_t k = 0; k < stride_; k += kLanes)  // a multiple of 32
    for (std::size_t l = 0; l < kLanes; ++l) {
      const auto dx = static_cast<float>(x_v[k + l] - x_u[k + l]);
      const auto dy = static_cast<float>(y_v[k + l] - y_u[k + l]);
      lanes[l] += dx * (y_p[k + l] - y_q[k + l] + dy) + dy * (x_p[k + l] - x_q[k + l] + dx);
    }
  return weight_ * added(lanes);
}

void BlockSums::swap(Vertex u, std::size_t p, Vertex v, std::size_t q) noexcept {
  const auto move = [&](const std::int16_t* from, const std::int16_t* to, float* into_p, float* into_q) {
    for (std::size_t k = 0; k < stride_; ++k) {
      const auto change = static_cast<float>(to[k] - from[k]);
      into_p[k] += change;
      into_q[k] -= change;
    }
  };
  float *const sums_p = sums_.data() + 2 * p * stride_, *const sums_q = sums_.data() + 2 * q * stride_;
  move(x(u), x(v), sums_p, sums_q);
  move(y(u), y(v), sums_p + stride_, sums_q + stride_);
}

double BlockSums::objective() const noexcept {
  double sum = 0;
  for (std::size_t block = 0; block < sums_.size() / (2 * stride_); ++block)
    for (std::size_t k = 0; k < stride_; ++k)
      sum += static_cast<double>(sum_x(block)[k]) * static_cast<double>(sum_y(block)[k]);
  return weight_ * sum;
}

double block_sums_bytes(std::size_t vertices, std::size_t cols, std::size_t block_size) noexcept {
  if (block_size < kLeastSummedBlock) return 0;
  const std::size_t blocks = vertices / block_size + 1, stride = (cols + 31) / 32 * 32;
  return 8 * static_cast<double>(blocks) * static_cast<double>(stride);
}

}  // namespace gcbs
