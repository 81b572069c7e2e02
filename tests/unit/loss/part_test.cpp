// Parts: a table of the definition's numbers, or int16 products within their bounds.
#include "loss/part.h"

#include <gtest/gtest.h>

#include "unit/loss/brute_force.h"

namespace gcbs {
namespace {

using namespace testing;

class LossParts : public ::testing::TestWithParam<std::string> {};

TEST_P(LossParts, TableIsTheDefinition) {
  for (const unsigned threads : {1u, 3u}) {
    const Data data(GetParam(), 37, 19, threads);
    const LossPart part = make_part(data.rows_x, data.rows_y, false, 37, data.run);
    ASSERT_TRUE(part.is_exact());
    EXPECT_FALSE(part.paired);
    EXPECT_EQ(part.count(), 37u);
    EXPECT_EQ(part.worst_bound(), 0);
    EXPECT_EQ(std::vector<double>(part.table.begin(), part.table.end()), all_similarities(data.x, data.y));
  }
}

TEST_P(LossParts, DenseValuesAreWithinTheirBounds) {
  for (const std::size_t cols : {1u, 3u, 65u, 300u}) {
    const Data data(GetParam(), 49, cols);
    const LossPart part = make_part(data.rows_x, data.rows_y, true, 48, data.run);
    ASSERT_FALSE(part.is_exact());
    EXPECT_TRUE(part.paired);
    const std::vector<double> all = all_similarities(data.x, data.y);
    for (Vertex i = 0; i < 49; ++i)
      for (Vertex j = 0; j < 49; ++j) {
        std::int64_t product = 0;
        for (std::size_t k = 0; k < part.fine.x.stride; ++k)
          product += std::int64_t{part.fine.x.row(i)[k]} * part.fine.y.row(j)[k];
        const double bound = part.bound.row[i] + part.bound.col[j];
        ASSERT_LE(std::abs(part.value(static_cast<float>(product), i, j) - all[i * 49 + j]), bound);
        ASSERT_LE(bound, part.worst_bound());
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, LossParts, ::testing::ValuesIn(kinds_of_matrices()),
                         [](const auto& kind) { return kind.param; });

}  // namespace
}  // namespace gcbs
