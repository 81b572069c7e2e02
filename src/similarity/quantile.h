// numpy.quantile's linear interpolation, spelled out.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace gcbs {

/// Which two of `count` ascending values a quantile lies between, and where.
struct QuantilePosition {
  std::uint64_t index;  ///< floor(q (count - 1)), ascending
  double fraction;

  QuantilePosition(double q, std::uint64_t count) {
    const double position = q * static_cast<double>(count - 1);
    const double whole = std::floor(position);
    index = static_cast<std::uint64_t>(whole);
    fraction = position - whole;
    if (index >= count - 1) index = count - 1, fraction = 0;
  }

  /// How many values stand above position `index`.
  std::uint64_t above(std::uint64_t count) const { return count - 1 - index; }

  /// numpy's lerp: from whichever end is nearer.
  double between(double lower, double upper) const {
    const double difference = upper - lower;
    return fraction >= 0.5 ? upper - difference * (1 - fraction) : lower + difference * fraction;
  }
};

/// Rows of a chunk of the paper's listing; the last chunk holds what remains.
inline constexpr std::size_t kChunkRows = 3;

}  // namespace gcbs
