// One value out of a matrix's bytes, for every type: the only code that knows the bit patterns.
//
// Reads through memcpy: rows in files may start at any byte. Written without branches, so that loops
// over it vectorise; with integer and normal float32 arithmetic only, so that the same bits come out on
// every machine, whatever it does to denormals.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gcbs/matrix.h"

namespace gcbs {

/// IEEE binary16 -> binary32, exact for all 65,536 patterns; NaN payloads are kept. Choices are made
/// with masks: a compiler may not turn a condition around float arithmetic into vector code.
inline float float_from_half(std::uint16_t half) noexcept {
  constexpr std::uint32_t kRebias = 112u << 23;    // 127 - 15
  constexpr std::uint32_t kSmallest = 113u << 23;  // 2^-14, the smallest normal half
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t magnitude = half & 0x7fffu;
  const std::uint32_t is_special = 0u - static_cast<std::uint32_t>(magnitude > 0x7bffu);  // Inf, NaN
  const std::uint32_t is_subnormal = 0u - static_cast<std::uint32_t>(magnitude < 0x0400u);
  // Exponent 31 becomes 255: rebias twice.
  const std::uint32_t normal = (magnitude << 13) + kRebias + (is_special & kRebias);
  // A subnormal m * 2^-24 is (2^-14 + m * 2^-24) - 2^-14; both are normal float32, the result is exact.
  const float subnormal =
      std::bit_cast<float>(kSmallest + ((magnitude & is_subnormal) << 13)) - std::bit_cast<float>(kSmallest);
  const std::uint32_t bits =
      (std::bit_cast<std::uint32_t>(subnormal) & is_subnormal) | (normal & ~is_subnormal);
  return std::bit_cast<float>(bits | sign);
}

inline float float_from_bfloat(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

namespace detail {
template <class T>
T bytes_as(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
}  // namespace detail

/// Value `j` of a row: float, or double for float64.
template <ValueType type>
auto load(const std::byte* row, std::size_t j) noexcept {
  if constexpr (type == ValueType::float32) return detail::bytes_as<float>(row + 4 * j);
  if constexpr (type == ValueType::float64) return detail::bytes_as<double>(row + 8 * j);
  if constexpr (type == ValueType::float16)
    return float_from_half(detail::bytes_as<std::uint16_t>(row + 2 * j));
  if constexpr (type == ValueType::bfloat16)
    return float_from_bfloat(detail::bytes_as<std::uint16_t>(row + 2 * j));
}

/// Calls visit.operator()<type>() for a type known at run time.
template <class Visitor>
decltype(auto) with_type(ValueType type, Visitor&& visit) {
  switch (type) {
    case ValueType::float32: break;
    case ValueType::float16: return visit.template operator()<ValueType::float16>();
    case ValueType::bfloat16: return visit.template operator()<ValueType::bfloat16>();
    case ValueType::float64: return visit.template operator()<ValueType::float64>();
  }
  return visit.template operator()<ValueType::float32>();
}

}  // namespace gcbs
