// The bounds that operands carry, against errors computed in long double.
#include "similarity/operand.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "base/random.h"
#include "similarity/definition.h"
#include "similarity/head.h"
#include "similarity/limits.h"
#include "support/matrices.h"

namespace gcbs {
namespace {

using namespace testing;
using Long = long double;

struct Prepared {
  Matrix x, y;
  RunContext run{2, nullptr, nullptr};
  Rows rows_x, rows_y;
  FinePrepared fine;

  Prepared(const std::string& kind, std::size_t rows, std::size_t cols, FineUse use = FineUse::decisions)
      : x(make_matrix(kind, rows, cols, 1)),
        y(make_matrix(kind, rows, cols, 2)),
        rows_x(x.view(), false, run),
        rows_y(y.view(), false, run),
        fine(prepare_fine(rows_x, rows_y, {}, {}, run, use)) {}

  /// x' of a row, in long double.
  std::vector<Long> centred(const Rows& rows, const FineOperand& side, std::size_t i) const {
    std::vector<float> row(rows.dim());
    rows.read(i, row.data());
    std::vector<Long> out;
    for (std::size_t k = 0; k < row.size(); ++k) out.push_back(Long{row[k]} - Long{side.mean[k]});
    return out;
  }
};

Long norm(const std::vector<Long>& v) {
  Long sum = 0;
  for (const Long value : v) sum += value * value;
  return std::sqrt(sum);
}

TEST(FineRows, ForSumsAreNeverClipped) {
  Matrix x = make_matrix("normal", 2048, 100, 1);
  for (std::size_t k = 0; k < 100; ++k) x.values[100 + k] = k == 7 ? 1 : 0;  // row 1: in no sample
  const RunContext run{2, nullptr, nullptr};
  const Rows rows(x.view(), false, run);
  const FinePrepared decisions = prepare_fine(rows, rows, {}, {}, run);
  const FinePrepared sums = prepare_fine(rows, rows, {}, {}, run, FineUse::sums);
  EXPECT_GT(decisions.x.error[1], 0.1f);
  for (std::size_t i = 0; i < 2048; ++i)
    ASSERT_LE(static_cast<double>(sums.x.error[i]), 0.51 * 10 * sums.x.scale + 1e-6);
}

TEST(FineRows, ForSumsHaveErrorsThatCancelEvenWhereRowsAreEqual) {
  const Matrix x{2000, 1, [] {
                   std::vector<float> values(2000, 1.0f);
                   for (std::size_t i = 0; i < 2000; i += 3) values[i] = -1;
                   return values;
                 }()};
  const RunContext run{2, nullptr, nullptr};
  const Rows rows(x.view(), false, run);
  const FinePrepared fine = prepare_fine(rows, rows, {}, {}, run, FineUse::sums);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < 2000; ++i) {
    const double error =
        (static_cast<double>(x.values[i]) - static_cast<double>(fine.x.mean[0])) / fine.x.scale -
        fine.x.row(i)[0];
    sum += error, squares += error * error;
  }
  EXPECT_GT(squares / 2000, 0.02);  // steps, squared: two kinds of rows, neither of them an exact integer
  EXPECT_LT(std::abs(sum / 2000), 0.05);
}

class Bounds : public ::testing::TestWithParam<std::string> {};

void expect_bounds_of_int16_rows(const Prepared& p, std::size_t cols) {
  for (const bool is_x : {true, false}) {
    const FineOperand& side = is_x ? p.fine.x : p.fine.y;
    for (std::size_t i = 0; i < side.count; ++i) {
      std::vector<Long> v = p.centred(is_x ? p.rows_x : p.rows_y, side, i);
      ASSERT_LE(norm(v), Long{side.norm[i]});
      double lanes[16] = {};
      for (std::size_t k = 0; k < cols; ++k) {
        const int value = side.row(i)[k];
        v[k] -= Long{side.scale} * value;
        lanes[k / 2 % 16] += static_cast<double>(value) * value;
      }
      ASSERT_LE(norm(v), Long{side.error[i]}) << "row " << i;
      for (const double lane : lanes) ASSERT_LT(lane, 0x1p31);
    }
  }
}

TEST_P(Bounds, OfInt16RowsHold) {
  for (const FineUse use : {FineUse::decisions, FineUse::sums})
    for (const std::size_t cols : {1u, 3u, 65u, 768u, 1000u})
      expect_bounds_of_int16_rows(Prepared(GetParam(), 37, cols, use), cols);
}

TEST_P(Bounds, OfFineValuesHold) {
  for (const std::size_t cols : {1u, 65u, 300u}) {
    const Prepared p(GetParam(), 41, cols);
    const FineBound bound = separate_fine(p.fine, p.run);
    const std::vector<double> all = all_similarities(p.x, p.y);
    for (std::uint32_t i = 0; i < 41; ++i)
      for (std::uint32_t j = 0; j < 41; ++j) {
        const FinePair pair{i, j};
        std::int64_t product = 0;
        kScalarKernel.fine(
            {p.fine.x.values.data(), p.fine.y.values.data(), p.fine.x.stride, &pair, 1, &product});
        const double value = p.fine.x.scale * p.fine.y.scale * static_cast<double>(product) +
                             p.fine.x.offset[i] + p.fine.y.offset[j];
        ASSERT_LE(std::abs(value - all[i * 41 + j]), bound.row[i] + bound.col[j]);
      }
  }
}

TEST_P(Bounds, OfInt8RowsHold) {
  for (const Kernel* kernel : {&kScalarKernel, &kAvx2StandIn})
    for (const std::size_t cols : {1u, 3u, 65u, 768u, 1000u}) {
      const Prepared p(GetParam(), 37, cols);
      const CoarsePrepared prepared = prepare_coarse(p.fine, nullptr, *kernel, p.run);
      ASSERT_EQ(prepared.parts.size(), 1u);
      const CoarsePart& coarse = prepared.parts[0];
      const KernelShape& shape = kernel->shape;
      for (std::size_t i = 0; i < 37; ++i) {
        // Y's layout is the same for all shapes: 64-byte lines of 16 columns.
        const std::uint8_t* panel = coarse.y.unit(i / coarse.y.unit_rows);
        std::vector<Long> v = p.centred(p.rows_y, p.fine.y, i);
        ASSERT_LE(norm(v), Long{coarse.y.norm[i]});
        int lane_square = 0;
        for (std::size_t k = 0; k < coarse.layout.steps * 4; ++k) {
          const std::uint8_t byte = panel[k / 4 * 64 + i % 16 * 4 + k % 4];
          const int q = shape.y_shift != 0 ? byte - shape.y_shift : static_cast<std::int8_t>(byte);
          ASSERT_LE(std::abs(q), shape.max_value);
          if (k < cols) {
            v[k] -= Long{coarse.y.scale} * q;
          } else {
            ASSERT_EQ(q, 0);
          }
          if (k % 4 < 2) lane_square += q * q;
          if ((k / 4 + 1) % coarse.layout.widen == 0 && k % 4 == 3) {
            if (shape.start == KernelShape::Start::lanes) {
              ASSERT_LE(lane_square, 32767);
            }
            lane_square = 0;
          }
        }
        ASSERT_LE(norm(v), Long{coarse.y.error[i]});
      }
    }
}

TEST_P(Bounds, OfHeadsHold) {
  const Prepared p(GetParam(), 45, 100);
  const Directions directions = leading_directions(p.fine, 64, kScalarKernel, p.run);
  std::vector<Vertex> rows(45);
  std::iota(rows.begin(), rows.end(), Vertex{0});
  for (const std::size_t depth : {32u, 64u}) {
    const Head head = make_head(directions, 32, depth, kScalarKernel);
    EXPECT_LT(head.defect(), 0.01);
    const CoarsePrepared coarse = prepare_coarse(p.fine, &head, kScalarKernel, p.run);
    ASSERT_EQ(coarse.parts.size(), depth / 32);
    Head::Buffers buffers;
    std::vector<float> zx(45 * depth), zy(45 * depth);
    head.project(p.fine.x, rows, depth, kScalarKernel, buffers, zx.data());
    head.project(p.fine.y, rows, depth, kScalarKernel, buffers, zy.data());
    for (std::size_t i = 0; i < 45; ++i)
      for (std::size_t j = 0; j < 45; ++j) {
        const std::vector<Long> x = p.centred(p.rows_x, p.fine.x, i), y = p.centred(p.rows_y, p.fine.y, j);
        Long whole = 0, in_head = 0;
        for (std::size_t k = 0; k < 100; ++k) whole += x[k] * y[k];
        for (std::size_t part = 0; part < coarse.parts.size(); ++part) {
          const CoarseOperand &cx = coarse.parts[part].x, &cy = coarse.parts[part].y;
          for (std::size_t k = part * 32; k < part * 32 + 32; ++k)
            in_head += Long{zx[i * depth + k]} * Long{zy[j * depth + k]};
          // The int16 errors move the projection too: allow for them as the limits do.
          const Long slip = Long{p.fine.x.error[i]} * Long{cy.norm[j]} * 1.01L +
                            Long{p.fine.y.error[j]} * Long{cx.norm[i]} * 1.01L + 1e-6L * norm(x) * norm(y);
          ASSERT_LE(std::abs(whole - in_head),
                    Long{cx.tail[i]} * Long{cy.tail[j]} + Long{head.defect()} * norm(x) * norm(y) + slip);
        }
      }
  }
}

TEST_P(Bounds, OfNearValuesHold) {
  for (const std::size_t cols : {1u, 3u, 65u, 768u, 1000u}) {
    const Prepared p(GetParam(), 29, cols);
    Definition definition(p.rows_x, p.rows_y);
    for (std::uint32_t i = 0; i < 29; ++i)
      for (std::uint32_t j = 0; j < 29; ++j) {
        const FinePair pair{i, j};
        double s = 0;
        definition.evaluate({&pair, 1}, {&s, 1});
        ASSERT_LE(std::abs(definition.near(pair) - s), definition.near_bound());
      }
  }
}

TEST(NearValues, AreNearForEveryType) {
  constexpr std::size_t kRows = 23, kCols = 77;
  Random random(7);
  for (const ValueType type :
       {ValueType::float32, ValueType::float16, ValueType::bfloat16, ValueType::float64}) {
    std::vector<std::byte> bytes(kRows * kCols * bytes_of(type));
    for (std::size_t k = 0; k < kRows * kCols; ++k) {
      const double value = (static_cast<double>(random.below(2001)) - 1000) / 7;
      const auto single = static_cast<float>(value);
      // Bits of a small half, and the upper half of a float32: any finite value will do.
      const auto half = static_cast<std::uint16_t>(random.below(0x7000) | random.below(2) << 15);
      const auto upper = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(single) >> 16);
      std::byte* to = bytes.data() + k * bytes_of(type);
      if (type == ValueType::float32) std::memcpy(to, &single, sizeof single);
      if (type == ValueType::float16) std::memcpy(to, &half, sizeof half);
      if (type == ValueType::bfloat16) std::memcpy(to, &upper, sizeof upper);
      if (type == ValueType::float64) std::memcpy(to, &value, sizeof value);
    }
    const MatrixView view{bytes.data(), kRows, kCols, kCols * bytes_of(type), type, name_of(type)};
    const Rows rows(view, false, RunContext{});
    Definition definition(rows, rows);
    for (std::uint32_t i = 0; i < kRows; ++i)
      for (std::uint32_t j = 0; j < kRows; ++j) {
        const FinePair pair{i, j};
        double s = 0;
        definition.evaluate({&pair, 1}, {&s, 1});
        ASSERT_LE(std::abs(definition.near(pair) - s), definition.near_bound()) << name_of(type);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Bounds, ::testing::ValuesIn(kinds_of_matrices()),
                         [](const auto& kind) { return kind.param; });

}  // namespace
}  // namespace gcbs
