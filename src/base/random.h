// The one random generator: SplitMix64. Small, seekable by seed, the same on every machine.
#pragma once

#include <cstdint>

namespace gcbs {

class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  /// Uniform in [0, bound), without bias; bound > 0.
  std::uint64_t below(std::uint64_t bound) noexcept {
    for (;;) {
      const std::uint64_t value = next();
      const std::uint64_t rest = value % bound;
      if (value - rest <= ~std::uint64_t{0} - (bound - 1)) return rest;
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace gcbs
