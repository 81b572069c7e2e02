// Dense blocks against int64 sums, and sums of exponentials against std::exp2: every kernel this machine
// has and every stand-in.
#include "similarity/dense.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/random.h"
#include "support/kernels.h"
#include "support/matrices.h"

namespace gcbs {
namespace {

using namespace testing;

constexpr int kMost = 127 * 256 + 127;  // what prepare_fine lets an int16 be

/// Rows of the given depth, zero-padded as operands are, that keep the kernels' promise: every lane's
/// squared norm is below 2^31.
FineOperand operand_of(std::size_t count, std::size_t depth, const std::string& style, std::uint64_t seed) {
  FineOperand side;
  side.count = count;
  side.stride = (depth + 31) / 32 * 32;
  side.values = Array<std::int16_t>(count * side.stride, std::int16_t{0});
  Random random(seed);
  const double a_lane = 2 * static_cast<double>(side.stride / 32);
  const auto noise = static_cast<std::uint64_t>(std::min<double>(kMost, std::sqrt(0x1p31 / a_lane) - 1));
  const int digits[] = {-32639, -257, -256, -255, -129, -128, -127, -1, 0, 1, 127, 128, 129, 255, 256, 384};
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = 0; k < depth; ++k) {
      std::int64_t value = 0;
      if (style == "noise")
        value = static_cast<std::int64_t>(random.below(2 * noise + 1)) - static_cast<std::int64_t>(noise);
      if (style == "largest" && k / 32 == i % (side.stride / 32)) value = i % 3 == 0 ? -kMost : kMost;
      if (style == "digits") value = digits[random.below(16) == 0 && k < 32 ? 0 : 1 + random.below(15)];
      if (style == "ones") value = 1;
      side.values[i * side.stride + k] = static_cast<std::int16_t>(value);
    }
  return side;
}

std::int64_t dot(const FineOperand& x, std::size_t i, const FineOperand& y, std::size_t j) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < x.stride; ++k) sum += std::int64_t{x.row(i)[k]} * y.row(j)[k];
  return sum;
}

std::vector<Vertex> members(std::size_t count, std::size_t rows, Random& random) {
  std::vector<Vertex> out(count);
  for (Vertex& member : out) member = static_cast<Vertex>(random.below(rows));
  return out;
}

void expect_products(const DenseRows& rows, const DensePanels& panels, const FineOperand& x,
                     const FineOperand& y, const std::vector<Vertex>& left,
                     const std::vector<Vertex>& right) {
  ASSERT_EQ(rows.count(), left.size());
  ASSERT_EQ(panels.panels(), (right.size() + 15) / 16);
  alignas(64) float products[kDenseRows * kDenseColumns];
  for (std::size_t first = 0; first < left.size(); first += kDenseRows)
    for (std::size_t p = 0; p < panels.panels(); ++p) {
      std::fill(std::begin(products), std::end(products), std::nanf(""));
      rows.multiply(first, panels, p, products);
      for (std::size_t r = 0; r < kDenseRows && first + r < left.size(); ++r)
        for (std::size_t c = 0; c < kDenseColumns && p * 16 + c < right.size(); ++c)
          ASSERT_EQ(products[r * kDenseColumns + c],
                    static_cast<float>(dot(x, left[first + r], y, right[p * 16 + c])))
              << "row " << first + r << " column " << p * 16 + c;
    }
}

class DenseBlocks : public ::testing::TestWithParam<NamedKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, DenseBlocks, ::testing::ValuesIn(runnable_kernels()),
                         [](const auto& kernel) { return kernel.param.name; });

TEST_P(DenseBlocks, ProductsAreExactAndRoundedOnce) {
  const Kernel& kernel = *GetParam().kernel;
  const KernelOnThread ready(kernel);
  const RunContext run;
  Random random(3);
  for (const std::size_t depth : {1u, 3u, 31u, 32u, 33u, 64u, 65u, 768u})
    for (const char* style : {"noise", "largest", "digits", "ones"}) {
      const FineOperand x = operand_of(60, depth, style, depth), y = operand_of(60, depth, style, depth + 1);
      DenseRows rows(kernel, 100, x.stride, run);
      DensePanels panels(kernel, 100, y.stride, run);
      // One pair of buffers for all sizes, up and down: nothing of an earlier gathering may stay.
      for (const std::size_t count : {100u, 1u, 15u, 49u, 16u, 17u, 48u, 47u}) {
        if (kSlowBuild && count % 16 == 0) continue;
        SCOPED_TRACE(std::to_string(count) + " of depth " + std::to_string(depth) + ", " + style);
        const std::vector<Vertex> left = members(count, 60, random),
                                  right = members(depth == 768 ? 17 : count, 60, random);
        rows.gather(x, left);
        panels.gather(y, right);
        expect_products(rows, panels, x, y, left, right);
        if (HasFatalFailure()) return;
      }
    }
}

TEST_P(DenseBlocks, ProductsOfPreparedRowsAreExact) {
  const Kernel& kernel = *GetParam().kernel;
  const KernelOnThread ready(kernel);
  const RunContext run;
  Random random(4);
  for (const std::string& kind : kinds_of_matrices())
    for (const std::size_t cols : {1u, 33u, 768u}) {
      SCOPED_TRACE(kind + " " + std::to_string(cols));
      const Matrix x = make_matrix(kind, 40, cols, 1), y = make_matrix(kind, 40, cols, 2);
      const Rows rows_x(x.view(), false, run), rows_y(y.view(), false, run);
      const FinePrepared fine = prepare_fine(rows_x, rows_y, {}, {}, run);
      DenseRows rows(kernel, 53, fine.x.stride, run);
      DensePanels panels(kernel, 35, fine.y.stride, run);
      const std::vector<Vertex> left = members(53, 40, random), right = members(35, 40, random);
      rows.gather(fine.x, left);
      panels.gather(fine.y, right);
      expect_products(rows, panels, fine.x, fine.y, left, right);
      if (HasFatalFailure()) return;
    }
}

TEST(DenseKernel, OfVeryLongRowsIsPortableWhereDigitsCouldOverflow) {
  EXPECT_EQ(&dense_kernel(kAmxInt8StandIn, 65536), &kAmxInt8StandIn);
  EXPECT_EQ(&dense_kernel(kAmxInt8StandIn, 65568), &kScalarKernel);
  EXPECT_EQ(&dense_kernel(kAvx2StandIn, 1 << 20), &kAvx2StandIn);
  const RunContext run;
  const FineOperand x = operand_of(3, 65600, "noise", 1), y = operand_of(3, 65600, "noise", 2);
  DenseRows rows(kAmxInt8StandIn, 3, x.stride, run);
  DensePanels panels(kAmxInt8StandIn, 3, y.stride, run);
  rows.gather(x, std::vector<Vertex>{2, 0, 1});
  panels.gather(y, std::vector<Vertex>{1, 1, 2});
  expect_products(rows, panels, x, y, {2, 0, 1}, {1, 1, 2});
}

/// Arguments of exp_sums and what it writes.
struct ExpBlock {
  std::size_t rows;
  std::vector<float> products, row_add, col_add, row_sums, row_most;
  std::vector<std::uint16_t> excluded;
  float multiply = 0x1p-7f, col_sums[16] = {}, col_most[16] = {};

  /// Exponents from -126 to 126: all whole and half ones, then any.
  ExpBlock(std::size_t count, std::uint64_t seed)
      : rows(count),
        products(count * 16),
        row_add(count),
        col_add(16),
        row_sums(count * 16),
        row_most(count * 16),
        excluded(count) {
    Random random(seed);
    for (float& add : row_add) add = static_cast<float>(random.below(41)) - 20;
    for (float& add : col_add) add = static_cast<float>(random.below(21)) - 10;
    for (std::uint16_t& mask : excluded) mask = static_cast<std::uint16_t>(random.next());
    for (std::size_t k = 0; k < products.size(); ++k) {
      const float wanted = k < 505 && seed == 1 ? static_cast<float>(k) / 2 - 126
                                                : static_cast<float>(random.below(252001)) / 1000 - 126;
      products[k] = (wanted - row_add[k / 16] - col_add[k % 16]) * 128;
    }
  }

  void run(const Kernel& kernel, bool masked, bool most) {
    kernel.exp_sums({products.data(), rows, multiply, row_add.data(), col_add.data(),
                     masked ? excluded.data() : nullptr, row_sums.data(), col_sums,
                     most ? row_most.data() : nullptr, most ? col_most : nullptr});
  }
  float exponent(std::size_t k) const { return (products[k] * multiply + col_add[k % 16]) + row_add[k / 16]; }
};

TEST_P(DenseBlocks, ExponentialsAreNear) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    ExpBlock block(1000, seed);
    block.run(*GetParam().kernel, false, false);
    for (std::size_t k = 0; k < block.products.size(); ++k) {
      const double exact = std::exp2(static_cast<double>(block.exponent(k)));
      ASSERT_LE(std::abs(static_cast<double>(block.row_sums[k]) - exact), 1e-6 * exact) << block.exponent(k);
    }
  }
}

TEST_P(DenseBlocks, SumsMasksAndMaximaAreTheDefinitionsBitForBit) {
  for (const std::size_t rows : {1u, 5u, 48u, 49u})
    for (const bool masked : {false, true})
      for (const bool most : {false, true}) {
        SCOPED_TRACE(std::to_string(rows) + (masked ? " masked" : "") + (most ? " most" : ""));
        ExpBlock single(rows, rows), block(rows, rows), expected(rows, rows);
        single.run(kScalarKernel, false, false);
        // What is there is added to, and what is larger stays.
        for (ExpBlock* b : {&block, &expected}) {
          for (std::size_t k = 0; k < rows * 16; ++k) {
            b->row_sums[k] = static_cast<float>(k % 7);
            b->row_most[k] = k % 3 == 0 ? 0x1p126f : 0x1p-20f;
          }
          for (std::size_t c = 0; c < 16; ++c) {
            b->col_sums[c] = static_cast<float>(c % 2);
            b->col_most[c] = c % 3 == 0 ? 0x1p126f : 0x1p-20f;
          }
        }
        float columns[16] = {};
        for (std::size_t k = 0; k < rows * 16; ++k) {
          const bool out = masked && (expected.excluded[k / 16] >> k % 16 & 1) != 0;
          const float e = out ? 0 : single.row_sums[k];
          expected.row_sums[k] += e;
          columns[k % 16] += e;
          if (!most) continue;
          expected.row_most[k] = std::max(expected.row_most[k], e);
          expected.col_most[k % 16] = std::max(expected.col_most[k % 16], e);
        }
        for (std::size_t c = 0; c < 16; ++c) expected.col_sums[c] += columns[c];
        block.run(*GetParam().kernel, masked, most);
        const auto bits = [](auto begin, auto end) {
          std::vector<std::uint32_t> list;
          for (; begin != end; ++begin) list.push_back(std::bit_cast<std::uint32_t>(*begin));
          return list;
        };
        const auto same = [&](const auto& a, const auto& b) {
          return bits(std::begin(a), std::end(a)) == bits(std::begin(b), std::end(b));
        };
        ASSERT_TRUE(same(block.row_sums, expected.row_sums));
        ASSERT_TRUE(same(block.row_most, expected.row_most));
        ASSERT_TRUE(same(block.col_sums, expected.col_sums));
        ASSERT_TRUE(same(block.col_most, expected.col_most));
      }
}

}  // namespace
}  // namespace gcbs
