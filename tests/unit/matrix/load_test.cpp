#include "matrix/load.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace gcbs {
namespace {

/// IEEE 754 as the standard words it, one bit field at a time.
double half_by_definition(unsigned bits) {
  const double sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
  const int exponent = static_cast<int>(bits >> 10 & 31u);
  const int fraction = static_cast<int>(bits & 1023u);
  if (exponent == 31)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Load, EveryHalfIsExact) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float value = float_from_half(static_cast<std::uint16_t>(bits));
    const double expected = half_by_definition(bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << bits;
    } else {
      EXPECT_EQ(static_cast<double>(value), expected) << bits;
    }
    EXPECT_EQ(std::signbit(value), bits >= 0x8000u) << bits;
  }
}

TEST(Load, EveryBfloatIsTheUpperHalfOfAFloat) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float value = float_from_bfloat(static_cast<std::uint16_t>(bits));
    EXPECT_EQ(std::bit_cast<std::uint32_t>(value), bits << 16);
  }
}

TEST(Load, ReadsValuesAtAnyByte) {
  std::vector<std::byte> bytes(65);
  const float single = 1.5f;
  const double twice = -2.25;
  for (std::size_t shift = 0; shift < 9; ++shift) {
    std::memcpy(bytes.data() + shift + 8, &single, 4);
    EXPECT_EQ(load<ValueType::float32>(bytes.data() + shift, 2), single);
    std::memcpy(bytes.data() + shift + 8, &twice, 8);
    EXPECT_EQ(load<ValueType::float64>(bytes.data() + shift, 1), twice);
    const std::uint16_t three_half = 0x4200, three_bfloat = 0x4040;
    std::memcpy(bytes.data() + shift + 8, &three_half, 2);
    EXPECT_EQ(load<ValueType::float16>(bytes.data() + shift, 4), 3.0f);
    std::memcpy(bytes.data() + shift + 8, &three_bfloat, 2);
    EXPECT_EQ(load<ValueType::bfloat16>(bytes.data() + shift, 4), 3.0f);
  }
}

TEST(Load, WithTypeReachesEveryType) {
  for (const ValueType type :
       {ValueType::float32, ValueType::float16, ValueType::bfloat16, ValueType::float64})
    EXPECT_EQ(with_type(type, []<ValueType chosen>() { return chosen; }), type);
}

}  // namespace
}  // namespace gcbs
