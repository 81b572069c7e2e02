// Rows with the same bytes, found; and the places they are grouped into.
#include "matrix/equal_rows.h"

#include <gtest/gtest.h>

#include <cstring>

#include "similarity/operand.h"
#include "support/matrices.h"

namespace gcbs {
namespace {

using namespace testing;

TEST(EqualRows, AreTheLowestWithTheSameBytes) {
  for (const std::string& kind : kinds_of_matrices())
    for (const std::size_t cols : {1u, 3u, 8u, 65u}) {
      SCOPED_TRACE(kind + " " + std::to_string(cols));
      const Matrix m = make_matrix(kind, 120, cols, 5);
      RunContext run;
      run.threads = 2;
      const std::vector<std::uint32_t> first = first_equal_rows(m.view(), run);
      for (std::size_t i = 0; i < m.rows; ++i) {
        std::size_t lowest = 0;
        while (std::memcmp(&m.values[lowest * cols], &m.values[i * cols], cols * sizeof(float)) != 0)
          ++lowest;
        ASSERT_EQ(first[i], lowest) << "row " << i;
      }
    }
}

TEST(EqualRows, PlacesHoldEveryRowOnce) {
  const std::vector<std::uint32_t> first{0, 1, 0, 3, 1, 0, 6};
  const PlaceRows places = group_equal_rows(first, RunContext{});
  const std::vector<std::vector<Vertex>> expected{{0, 2, 5}, {1, 4}, {3}, {6}};
  ASSERT_EQ(places.offsets.size(), expected.size() + 1);
  for (std::size_t p = 0; p < expected.size(); ++p) {
    EXPECT_EQ(std::vector<Vertex>(places.rows.begin() + places.offsets[p],
                                  places.rows.begin() + places.offsets[p + 1]),
              expected[p]);
    EXPECT_EQ(places.weight(p), expected[p].size());
    EXPECT_EQ(places.first(p), expected[p][0]);
    for (const Vertex row : expected[p]) EXPECT_EQ(places.place(row), p);
  }
}

}  // namespace
}  // namespace gcbs
