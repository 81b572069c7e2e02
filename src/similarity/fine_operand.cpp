// Centred rows as int16.
//
// Requires: rows of contract C1. Ensures: |x' - scale p| <= error and |x'| <= norm as real numbers;
// every lane (k / 2) mod 16 of p has a squared norm below 2^31, so that the int32 lane sums of two
// rows cannot overflow (Cauchy-Schwarz). Cost: one pass over the input, 2 bytes a value.
// Determinism: sums have a fixed lane structure; mean and scale come from rows at even distances.
//
// The scale is set by a sample. A row that does not fit it (an outlier) is clipped, halved until
// its lanes fit, and pays with a larger error: correct, only slower. For sums the scale is set by all rows.
#include <algorithm>
#include <cmath>
#include <optional>

#include "similarity/operand.h"

namespace gcbs {
namespace {

constexpr std::size_t kLanes = 32;   // values per step of the lane structure
constexpr double kUnit32 = 0x1p-24;  // half an ulp of float32, relative
constexpr double kUnit64 = 0x1p-53;
constexpr float kLaneSquareLimit = 0x1p31f * (1 - 0x1p-12f);  // room for float32 sums of squares
constexpr float kRound = 0x1.8p23f;       // adding and subtracting rounds to the nearest integer
constexpr float kMost = 127 * 256 + 127;  // two signed bytes hold it as high and low digit
constexpr std::size_t kMeanSample = 1024, kScaleSample = 512;
constexpr std::size_t kShortRow = 64;  // longer ones have errors enough of their own to cancel

std::size_t padded(std::size_t dim) { return (dim + kLanes - 1) / kLanes * kLanes; }

std::vector<float> sample_mean(const Rows& rows) {
  const std::size_t step = std::max<std::size_t>(1, rows.count() / kMeanSample);
  std::vector<double> sum(rows.dim(), 0.0);
  std::vector<float> row(rows.dim());
  std::size_t taken = 0;
  for (std::size_t i = 0; i < rows.count(); i += step, ++taken) {
    rows.read(i, row.data());
    for (std::size_t k = 0; k < row.size(); ++k) sum[k] += static_cast<double>(row[k]);
  }
  std::vector<float> mean(rows.dim());
  for (std::size_t k = 0; k < mean.size(); ++k)
    mean[k] = static_cast<float>(sum[k] / static_cast<double>(taken));
  return mean;
}

double dot(const float* a, const float* b, std::size_t dim) {
  double lanes[8] = {};
  std::size_t k = 0;
  for (; k + 8 <= dim; k += 8)
    for (std::size_t l = 0; l < 8; ++l)
      lanes[l] += static_cast<double>(a[k + l]) * static_cast<double>(b[k + l]);
  for (; k < dim; ++k) lanes[k % 8] += static_cast<double>(a[k]) * static_cast<double>(b[k]);
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

/// From -1/2 to 1/2, different for every value of a side.
float dither(std::uint32_t seed, std::uint32_t value) {
  std::uint32_t h = seed + value * 0x9E3779B1u;
  h = (h ^ h >> 16) * 0x85EBCA6Bu;
  h = (h ^ h >> 13) * 0xC2B2AE35u;
  return static_cast<float>(static_cast<std::int32_t>(h ^ h >> 16) >> 8) * 0x1p-24f;
}

/// A row's way to int16, with its own buffers: one a thread.
class RowQuantiser {
 public:
  RowQuantiser(const Rows& rows, const std::vector<float>& mean, const std::vector<float>& other_mean)
      : rows_(rows),
        mean_(mean),
        other_mean_(other_mean),
        raw_(rows.dim()),
        centred_(padded(rows.dim()), 0.0f) {}

  void read(std::size_t i) {
    rows_.read(i, raw_.data());
    for (std::size_t k = 0; k < raw_.size(); ++k) centred_[k] = raw_[k] - mean_[k];
  }
  double offset() const { return dot(raw_.data(), other_mean_.data(), raw_.size()); }

  /// The largest lane norm, and the largest value.
  struct Extent {
    float lane_square = 0, value = 0, square = 0;
  };
  Extent extent() const {
    float squares[kLanes] = {};
    Extent found;
    for (std::size_t k = 0; k < centred_.size(); k += kLanes)
      for (std::size_t l = 0; l < kLanes; ++l) {
        squares[l] += centred_[k + l] * centred_[k + l];
        found.value = std::max(found.value, std::fabs(centred_[k + l]));
      }
    for (std::size_t l = 0; l < kLanes; l += 2)
      found.lane_square = std::max(found.lane_square, squares[l] + squares[l + 1]);
    for (const float square : squares) found.square += square;
    return found;
  }

  struct Quantised {
    float error, norm;
  };
  /// The values may be moved by half a step first, at random: exact integers stay what they are.
  Quantised quantise(float scale, std::int16_t* out, std::optional<std::uint32_t> random = {}) {
    moves_.assign(centred_.size(), 0.0f);
    if (random)
      for (std::size_t k = 0; k < moves_.size(); ++k)
        moves_[k] = dither(*random, static_cast<std::uint32_t>(k));
    const float inverse = 1 / scale;
    float squares[kLanes] = {}, errors[kLanes] = {}, lane_squares[kLanes] = {};
    for (std::size_t k = 0; k < centred_.size(); k += kLanes)
      for (std::size_t l = 0; l < kLanes; ++l) {
        const float value = centred_[k + l];
        const float clipped = std::min(std::max(value * inverse + moves_[k + l], -kMost), kMost);
        const float p = (clipped + kRound) - kRound;
        const float error = value - scale * p;
        out[k + l] = static_cast<std::int16_t>(p);
        squares[l] += value * value;
        errors[l] += error * error;
        lane_squares[l] += p * p;
      }
    bool fits = true;
    for (std::size_t l = 0; l < kLanes; l += 2)
      fits = fits && lane_squares[l] + lane_squares[l + 1] < kLaneSquareLimit;
    float square = 0, error_square = 0;
    for (std::size_t l = 0; l < kLanes; ++l) square += squares[l], error_square += errors[l];
    if (!fits) error_square = shrink(scale, out);
    // Float32 sums of n terms in 32 lanes: relative error below (n / 32 + 33) units, squared here.
    const double slack = 1 + (static_cast<double>(centred_.size()) / kLanes + 40) * kUnit32;
    const double norm = std::sqrt(static_cast<double>(square)) * slack;
    // Centring, scale * p and the difference round: together below 4 units of the row's norm.
    const double error = std::sqrt(static_cast<double>(error_square)) * slack + 4 * kUnit32 * norm + 0x1p-60;
    return {std::nextafter(static_cast<float>(error), INFINITY),
            std::nextafter(static_cast<float>(norm * (1 + 2 * kUnit32) + 0x1p-60), INFINITY)};
  }

 private:
  /// Halves the row until its lanes fit; the new sum of squared errors.
  float shrink(float scale, std::int16_t* out) const {
    for (bool fits = false; !fits;) {
      double lanes[kLanes / 2] = {};
      for (std::size_t k = 0; k < centred_.size(); ++k) {
        out[k] = static_cast<std::int16_t>(out[k] / 2);
        lanes[k / 2 % (kLanes / 2)] += static_cast<double>(out[k]) * out[k];
      }
      fits = *std::max_element(lanes, lanes + kLanes / 2) < static_cast<double>(kLaneSquareLimit);
    }
    float sum = 0;
    for (std::size_t k = 0; k < centred_.size(); ++k) {
      const float error = centred_[k] - scale * static_cast<float>(out[k]);
      sum += error * error;
    }
    return sum * (1 + static_cast<float>(centred_.size()) * 0x1p-23f);
  }

  const Rows& rows_;
  const std::vector<float>&mean_, &other_mean_;
  std::vector<float> raw_, centred_, moves_;
};

/// A step small enough for precision, large enough that nearly all rows fit without clipping; for sums, all.
float choose_scale(const Rows& rows, const std::vector<float>& mean, FineUse use, const RunContext& run) {
  const std::size_t step = use == FineUse::sums ? 1 : std::max<std::size_t>(1, rows.count() / kScaleSample);
  constexpr std::size_t kPiece = 256;
  const std::size_t looked_at = (rows.count() + step - 1) / step;
  std::vector<RowQuantiser::Extent> largest((looked_at + kPiece - 1) / kPiece);
  parallel_for(run, looked_at, kPiece, [&](std::size_t begin, std::size_t end, unsigned) {
    RowQuantiser quantiser(rows, mean, mean);
    RowQuantiser::Extent& found = largest[begin / kPiece];
    for (std::size_t i = begin; i < end; ++i) {
      quantiser.read(i * step);
      const RowQuantiser::Extent extent = quantiser.extent();
      found.lane_square = std::max(found.lane_square, extent.lane_square);
      found.value = std::max(found.value, extent.value);
    }
  });
  float lane_square = 0, value = 0;
  for (const RowQuantiser::Extent& found : largest) {
    lane_square = std::max(lane_square, found.lane_square);
    value = std::max(value, found.value);
  }
  return std::max(1.25f * std::max(std::sqrt(lane_square) / 46340.0f, value / kMost), 0x1p-60f);
}

FineOperand quantise_rows(const Rows& rows, PlaceRows&& places, const std::vector<float>& mean,
                          const std::vector<float>& other_mean, double constant, FineUse use,
                          std::uint32_t seed, const RunContext& run) {
  FineOperand side;
  side.count = places.empty() ? rows.count() : places.offsets.size() - 1;
  side.places = std::move(places);
  side.stride = padded(rows.dim());
  side.mean = mean;
  side.values = Array<std::int16_t>(side.count * side.stride, run.meter);
  side.error = Array<float>(side.count, run.meter);
  side.norm = Array<float>(side.count, run.meter);
  side.offset = Array<double>(side.count, run.meter);
  const float scale = choose_scale(rows, mean, use, run);
  const bool dithered = use == FineUse::sums && rows.dim() < kShortRow;
  side.scale = static_cast<double>(scale);
  parallel_for(run, side.count, 256, [&](std::size_t begin, std::size_t end, unsigned) {
    RowQuantiser quantiser(rows, mean, other_mean);
    for (std::size_t i = begin; i < end; ++i) {
      quantiser.read(side.places.first(i));
      const std::optional<std::uint32_t> random =
          dithered ? std::optional(seed + static_cast<std::uint32_t>(i) * 0x85EBCA77u) : std::nullopt;
      const auto [error, norm] = quantiser.quantise(scale, side.values.data() + i * side.stride, random);
      side.error[i] = error;
      side.norm[i] = norm;
      side.offset[i] = quantiser.offset() - constant;
    }
  });
  return side;
}

}  // namespace

FinePrepared prepare_fine(const Rows& x, const Rows& y, PlaceRows&& places_x, PlaceRows&& places_y,
                          const RunContext& run, FineUse use) {
  const std::vector<float> mean_x = sample_mean(x), mean_y = sample_mean(y);
  FinePrepared fine;
  fine.depth = x.dim();
  fine.x = quantise_rows(x, std::move(places_x), mean_x, mean_y, dot(mean_x.data(), mean_y.data(), x.dim()),
                         use, 1, run);
  fine.y = quantise_rows(y, std::move(places_y), mean_y, mean_x, 0.0, use, 2, run);
  // Norms of rows and means are below 1.01; see docs/bounds.md, "rounding".
  fine.rounding = (8 * static_cast<double>(x.dim()) + 64) * kUnit64 * 1.05 * 4;
  return fine;
}

}  // namespace gcbs
