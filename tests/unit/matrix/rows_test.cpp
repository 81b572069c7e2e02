// Rows against contract C1 written out plainly, on every type and awkward sizes; and the first bad row,
// the same for any number of threads.
#include "matrix/rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.h"
#include "gcbs/error.h"

namespace gcbs {
namespace {

using testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr ValueType kTypes[] = {ValueType::float32, ValueType::float16, ValueType::bfloat16,
                                ValueType::float64};

/// A matrix that owns its bytes, one byte off any alignment, with gaps between rows.
struct Owned {
  std::vector<std::byte> bytes;
  MatrixView view;

  Owned(std::size_t rows, std::size_t cols, ValueType type) {
    const std::size_t row_bytes = cols * bytes_of(type) + 3;
    bytes.resize(1 + rows * row_bytes);
    view = {bytes.data() + 1, rows, cols, row_bytes, type, "x"};
  }

  std::byte* at(std::size_t i, std::size_t j) {
    return bytes.data() + 1 + i * view.row_bytes + j * bytes_of(view.type);
  }
  /// Values must be exact in the type.
  void set(std::size_t i, std::size_t j, double value) {
    const auto single = static_cast<float>(value);
    const auto bfloat = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(single) >> 16);
    switch (view.type) {
      case ValueType::float32: std::memcpy(at(i, j), &single, 4); break;
      case ValueType::float64: std::memcpy(at(i, j), &value, 8); break;
      case ValueType::bfloat16: std::memcpy(at(i, j), &bfloat, 2); break;
      case ValueType::float16: {
        const std::uint16_t half = half_from(value);
        std::memcpy(at(i, j), &half, 2);
      }
    }
  }
  double get(std::size_t i, std::size_t j) {
    float single = 0;
    double twice = 0;
    std::uint16_t half = 0;
    switch (view.type) {
      case ValueType::float32: return std::memcpy(&single, at(i, j), 4), single;
      case ValueType::float64: return std::memcpy(&twice, at(i, j), 8), twice;
      case ValueType::bfloat16:
        std::memcpy(&half, at(i, j), 2);
        return std::bit_cast<float>(std::uint32_t{half} << 16);
      case ValueType::float16: std::memcpy(&half, at(i, j), 2); return half_value(half);
    }
    return kNan;
  }

  static double half_value(std::uint16_t half) {
    const double sign = half >= 0x8000u ? -1 : 1;
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    if (exponent == 31) return fraction != 0 ? kNan : sign * kInf;
    return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
  }
  /// By search: slow and plain.
  static std::uint16_t half_from(double value) {
    for (unsigned bits = 0; bits < 65536; ++bits) {
      const double candidate = half_value(static_cast<std::uint16_t>(bits));
      if (candidate == value || (std::isnan(candidate) && std::isnan(value)))
        return static_cast<std::uint16_t>(bits);
    }
    ADD_FAILURE() << value << " is no half";
    return 0;
  }
};

/// Finite values of every size the type has, some zeros among them; float64 rows of even index stay
/// near 1, or nearly all of them would need scaling.
Owned random_matrix(std::size_t rows, std::size_t cols, ValueType type, std::uint64_t seed) {
  Owned matrix(rows, cols, type);
  Random random(seed);
  const auto fill = [&](std::size_t i, std::size_t j) {
    std::uint64_t bits = random.below(7) == 0 ? 0 : random.next();
    if (type == ValueType::float64 && i % 2 == 0 && bits != 0)
      bits = (bits & ~(std::uint64_t{0x7ff} << 52)) | ((1023 - random.below(20)) << 52);
    std::memcpy(matrix.at(i, j), &bits, bytes_of(type));
    return std::isfinite(matrix.get(i, j)) && (cols > 1 || matrix.get(i, j) != 0);
  };
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j)
      while (!fill(i, j)) {
      }
  return matrix;
}

/// Contract C1, as it reads.
std::vector<float> row_by_contract(Owned& matrix, std::size_t i) {
  std::vector<double> v(matrix.view.cols);
  double largest = 0, sum = 0;
  for (std::size_t j = 0; j < v.size(); ++j) {
    v[j] = matrix.get(i, j);
    largest = std::max(largest, std::abs(v[j]));
  }
  if (largest >= std::ldexp(1, 500) || largest < std::ldexp(1, -400))
    for (double& value : v) value = std::ldexp(value, -std::ilogb(largest));
  for (const double value : v) sum += value * value;
  std::vector<float> row;
  for (const double value : v) row.push_back(static_cast<float>(value / std::sqrt(sum)));
  return row;
}

std::vector<float> read_row(const Rows& rows, std::size_t i) {
  std::vector<float> row(rows.dim() + 1, 77.0f);
  rows.read(i, row.data());
  EXPECT_EQ(row.back(), 77.0f) << "written past the end";
  row.pop_back();
  return row;
}

void expect_bits_equal(const std::vector<float>& got, const std::vector<float>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  EXPECT_EQ(std::memcmp(got.data(), expected.data(), 4 * got.size()), 0);
}

RunContext with_threads(unsigned threads) {
  RunContext run;
  run.threads = threads;
  return run;
}

Error error_of(const MatrixView& view, bool normalised, unsigned threads) {
  try {
    const Rows rows(view, normalised, with_threads(threads));
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::internal, "no error"};
}

TEST(Rows, AreTheContractsBits) {
  for (const ValueType type : kTypes)
    for (const std::size_t cols : {1u, 3u, 65u, 768u, 1000u})
      for (const std::size_t count : {1u, 2u, 17u}) {
        SCOPED_TRACE(std::string(name_of(type)) + " " + std::to_string(count) + " x " + std::to_string(cols));
        Owned matrix = random_matrix(count, cols, type, cols * 31 + count);
        const Rows rows(matrix.view, false, with_threads(2));
        EXPECT_EQ(rows.count(), count);
        EXPECT_EQ(rows.dim(), cols);
        for (std::size_t i = 0; i < count; ++i)
          expect_bits_equal(read_row(rows, i), row_by_contract(matrix, i));
      }
}

TEST(Rows, SumStrictlyInIndexOrder) {
  // In order, each 2^-54 is lost against the 1 before it and the norm is exactly 1, so that column 1 is
  // halfway between two floats and rounds to the even one, up. Any other grouping gives a norm above 1.
  for (const std::size_t count : {1u, 4u, 5u}) {
    Owned matrix(count, 1000, ValueType::float64);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 2; j < 1000; ++j) matrix.set(i, j, 0x1p-27);
      matrix.set(i, 0, 1);
      matrix.set(i, 1, 0x1p-30 + 0x1p-53 + 0x1p-54);
    }
    const Rows rows(matrix.view, false, with_threads(1));
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(read_row(rows, i)[1], 0x1p-30f + 0x1p-52f);
  }
}

TEST(Rows, ScaleWhatWouldOverflowOrVanish) {
  // Rows of ordinary values times every power of two that float64 has.
  Owned matrix(2098, 5, ValueType::float64);
  const double pattern[] = {0.75, -0.3, 0, 1, 0x1p-60};
  for (std::size_t i = 0; i < 2098; ++i)
    for (std::size_t j = 0; j < 5; ++j) matrix.set(i, j, std::ldexp(pattern[j], static_cast<int>(i) - 1074));
  const Rows rows(matrix.view, false, with_threads(1));
  for (std::size_t i = 0; i < 2098; ++i) {
    SCOPED_TRACE(i);
    expect_bits_equal(read_row(rows, i), row_by_contract(matrix, i));
  }
}

TEST(Rows, ScaleAtTheLimitsOfTheRuleAndNowhereElse) {
  const double below_high = std::nextafter(0x1p500, 0), below_low = std::nextafter(0x1p-400, 0);
  const double largest = std::numeric_limits<double>::max(),
               least = std::numeric_limits<double>::denorm_min();
  const double values[] = {0x1p500, below_high, 0x1p-400, below_low, largest, least, 0x1p-370, 0x1p499};
  for (const double value : values)
    for (const std::size_t cols : {1u, 2u, 1000u}) {
      SCOPED_TRACE(value);
      Owned matrix(1, cols, ValueType::float64);
      for (std::size_t j = 0; j < cols; ++j) matrix.set(0, j, j % 2 == 0 ? value : value / 3);
      const Rows rows(matrix.view, false, with_threads(1));
      expect_bits_equal(read_row(rows, 0), row_by_contract(matrix, 0));
    }
}

TEST(Rows, KeepDenormalsOfEveryType) {
  const double least[] = {0x1p-149, 0x1p-24, 0x1p-133, 0x1p-1074};
  for (std::size_t t = 0; t < 4; ++t) {
    Owned matrix(1, 2, kTypes[t]);
    matrix.set(0, 0, least[t]);
    matrix.set(0, 1, -least[t]);
    const Rows rows(matrix.view, false, with_threads(1));
    const auto half = static_cast<float>(1 / std::sqrt(2.0));
    expect_bits_equal(read_row(rows, 0), {half, -half});
  }
}

TEST(Rows, NormalisedRowsAreConvertedAndNothingElse) {
  for (const ValueType type : kTypes) {
    Owned matrix(17, 4, type);
    for (std::size_t i = 0; i < 17; ++i)
      for (std::size_t j = 0; j < 4; ++j) matrix.set(i, j, j % 2 == 0 ? 0.5 : -0.5);
    if (type == ValueType::float64) matrix.set(3, 0, 0.5000000001);
    const Rows rows(matrix.view, true, with_threads(2));
    for (std::size_t i = 0; i < 17; ++i) {
      std::vector<float> expected;
      for (std::size_t j = 0; j < 4; ++j) expected.push_back(static_cast<float>(matrix.get(i, j)));
      expect_bits_equal(read_row(rows, i), expected);
    }
  }
}

TEST(Rows, NormalisedMeansWithinAThousandth) {
  for (const double norm : {0.9991, 1.0009}) {
    Owned matrix(2, 1, ValueType::float64);
    matrix.set(0, 0, 1);
    matrix.set(1, 0, norm);
    EXPECT_NO_THROW(Rows(matrix.view, true, with_threads(1)));
  }
  for (const double norm : {0.9989, 1.0011, 0.0, 5.0}) {
    Owned matrix(2, 1, ValueType::float64);
    matrix.set(0, 0, 1);
    matrix.set(1, 0, norm);
    const Error error = error_of(matrix.view, true, 1);
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), HasSubstr("row 1 of x has norm"));
    EXPECT_THAT(error.what(), HasSubstr("--normalised"));
  }
}

TEST(Rows, NormalisedRowsMustFitFloat32) {
  Owned matrix(3, 2, ValueType::float64);
  for (std::size_t i = 0; i < 3; ++i) matrix.set(i, 0, 1);
  matrix.set(2, 1, 1e39);
  EXPECT_NO_THROW(Rows(matrix.view, false, with_threads(1)));
  const Error error = error_of(matrix.view, true, 1);
  EXPECT_EQ(error.kind(), ErrorKind::input);
  EXPECT_THAT(error.what(), HasSubstr("row 2 of x holds 1e+39 in column 1"));
  EXPECT_THAT(error.what(), HasSubstr("float32"));
}

TEST(Rows, BadValuesAreNamedByRowAndColumn) {
  for (const ValueType type : kTypes)
    for (const bool normalised : {false, true})
      for (const double bad : {kNan, kInf, -kInf})
        for (const std::size_t row : {0u, 3u, 4u, 16u}) {
          Owned matrix(17, 65, type);
          for (std::size_t i = 0; i < 17; ++i) matrix.set(i, 7, 1);
          matrix.set(row, 64, bad);
          const Error error = error_of(matrix.view, normalised, 2);
          EXPECT_EQ(error.kind(), ErrorKind::input);
          const std::string what = std::isnan(bad) ? "NaN" : "Inf";
          EXPECT_THAT(error.what(),
                      HasSubstr("row " + std::to_string(row) + " of x holds " + what + " in column 64"));
          EXPECT_FALSE(error.fix().empty());
        }
}

TEST(Rows, ZeroRowsAreRefused) {
  for (const ValueType type : kTypes) {
    Owned matrix(5, 3, type);
    for (const std::size_t i : {0u, 1u, 2u, 4u}) matrix.set(i, 1, 2);
    matrix.set(3, 0, -0.0);
    const Error error = error_of(matrix.view, false, 1);
    EXPECT_EQ(error.kind(), ErrorKind::input);
    EXPECT_THAT(error.what(), HasSubstr("row 3 of x is zero"));
  }
}

TEST(Rows, TheFirstBadRowIsTheSameForEveryThreadCount) {
  constexpr std::size_t kRows = 5000, kCols = 300;  // many pieces
  std::vector<float> values(kRows * kCols, 1.0f);
  for (const std::size_t bad : {4999u, 4100u, 4099u, 1234u, 700u, 3u, 0u}) {
    values[bad * kCols + bad % kCols] = std::numeric_limits<float>::quiet_NaN();
    const MatrixView view = view_of(values, kRows, kCols, "x");
    for (const unsigned threads : {1u, 2u, 3u, 7u})
      EXPECT_THAT(error_of(view, false, threads).what(),
                  HasSubstr("row " + std::to_string(bad) + " of x holds NaN"));
  }
}

TEST(Rows, AMatrixWithoutValuesIsRefused) {
  EXPECT_EQ(error_of(view_of({}, 0, 5, "x"), false, 1).kind(), ErrorKind::input);
  EXPECT_THAT(error_of(view_of({}, 3, 0, "x"), true, 1).what(), HasSubstr("x has no values"));
}

struct StopAtOnce : Observer {
  bool stop_requested() noexcept override { return true; }
};

TEST(Rows, StopWhenTheObserverSaysSo) {
  const std::vector<float> values(100, 1.0f);
  StopAtOnce observer;
  RunContext run = with_threads(2);
  run.observer = &observer;
  try {
    const Rows rows(view_of(values, 10, 10), false, run);
    FAIL() << "did not stop";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
}

TEST(Rows, ChargeTheirMemory) {
  const std::vector<float> values(1000, 1.0f);
  MemoryMeter meter;
  RunContext run = with_threads(1);
  run.meter = &meter;
  {
    const Rows rows(view_of(values, 100, 10), false, run);
    EXPECT_EQ(meter.held_bytes(), 800u);
  }
  EXPECT_EQ(meter.held_bytes(), 0u);
}

}  // namespace
}  // namespace gcbs
