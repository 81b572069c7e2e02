#include "gcbs/matrix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "gcbs/error.h"

namespace gcbs {
namespace {

TEST(Matrix, NamesAndSizesOfTypes) {
  EXPECT_STREQ(name_of(ValueType::float32), "float32");
  EXPECT_STREQ(name_of(ValueType::float16), "float16");
  EXPECT_STREQ(name_of(ValueType::bfloat16), "bfloat16");
  EXPECT_STREQ(name_of(ValueType::float64), "float64");
  EXPECT_EQ(bytes_of(ValueType::float32), 4u);
  EXPECT_EQ(bytes_of(ValueType::float16), 2u);
  EXPECT_EQ(bytes_of(ValueType::bfloat16), 2u);
  EXPECT_EQ(bytes_of(ValueType::float64), 8u);
}

TEST(Matrix, ViewsFloatsWithoutACopy) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6};
  const MatrixView view = view_of(values, 2, 3, "x");
  EXPECT_EQ(view.rows, 2u);
  EXPECT_EQ(view.cols, 3u);
  EXPECT_EQ(view.type, ValueType::float32);
  EXPECT_EQ(view.name, "x");
  EXPECT_EQ(static_cast<const void*>(view.row(1)), values.data() + 3);
}

TEST(Matrix, RefusesAShapeThatDoesNotFit) {
  const std::vector<float> values(6);
  constexpr std::size_t kHuge = std::numeric_limits<std::size_t>::max() / 2 + 2;
  for (const auto& [rows, cols] : {std::pair<std::size_t, std::size_t>{2, 4}, {1, 3}, {kHuge, 2}}) {
    try {
      view_of(values, rows, cols, "x");
      ADD_FAILURE() << rows << " x " << cols;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_THAT(error.what(), testing::HasSubstr("6 are there"));
    }
  }
}

}  // namespace
}  // namespace gcbs
