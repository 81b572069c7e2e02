// The scan of a row of similarities: the peer's half of what the join does.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gcbs::bench {

/// Writes row | j for every j in [0, count) with values[j] > threshold, j + first, ascending; gives the
/// end of what was written. `out` has room for count + 16 entries. row holds the row's number << 32.
using Scan = std::uint64_t* (*)(const float* values, std::size_t count, float threshold, std::uint64_t row,
                                std::uint32_t first, std::uint64_t* out) noexcept;

std::uint64_t* scan_avx2(const float*, std::size_t, float, std::uint64_t, std::uint32_t,
                         std::uint64_t*) noexcept;
std::uint64_t* scan_avx512(const float*, std::size_t, float, std::uint64_t, std::uint32_t,
                           std::uint64_t*) noexcept;

}  // namespace gcbs::bench
