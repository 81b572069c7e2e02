#include "mining/exclusions.h"

#include <gtest/gtest.h>

#include "gcbs/error.h"

namespace gcbs {
namespace {

using Positives = std::optional<std::vector<std::int64_t>>;

std::vector<int> excluded(const Exclusions& exclusions, std::size_t row, std::size_t columns) {
  std::vector<int> list;
  for (std::size_t j = 0; j < columns; ++j)
    if (exclusions.excludes(row, j)) list.push_back(static_cast<int>(j));
  return list;
}

TEST(Exclusions, ARowsOwnPositiveWithoutGroups) {
  const Exclusions own(3, 5, {}, {});
  EXPECT_EQ(excluded(own, 2, 5), std::vector<int>{2});
  const Exclusions given(3, 5, Positives({4, 4, 0}), {});
  EXPECT_EQ(excluded(given, 1, 5), std::vector<int>{4});
  EXPECT_EQ(excluded(given, 2, 5), std::vector<int>{0});
}

TEST(Exclusions, ThePositivesOfGroupMatesInAnyList) {
  const std::vector<GroupIds> groups{{1, 1, 2, 3}, {5, 6, 6, 7}};
  const Exclusions own(4, 6, {}, groups);
  EXPECT_EQ(excluded(own, 0, 6), (std::vector<int>{0, 1}));
  EXPECT_EQ(excluded(own, 1, 6), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(excluded(own, 3, 6), (std::vector<int>{3}));
  const Exclusions given(4, 6, Positives({5, 3, 3, 3}), groups);
  EXPECT_EQ(excluded(given, 0, 6), (std::vector<int>{3, 5}));
  EXPECT_EQ(excluded(given, 3, 6), (std::vector<int>{3}));
}

TEST(Exclusions, SharedPositivesMakeNoGroup) {
  // Rows 0 and 1 share row 4; the mate of row 1 is none of row 0's.
  const Exclusions exclusions(3, 5, Positives({4, 4, 2}), std::vector<GroupIds>{{1, 2, 2}});
  EXPECT_EQ(excluded(exclusions, 0, 5), (std::vector<int>{4}));
  EXPECT_EQ(excluded(exclusions, 1, 5), (std::vector<int>{2, 4}));
  EXPECT_EQ(excluded(exclusions, 2, 5), (std::vector<int>{2, 4}));
}

TEST(Exclusions, WhatEqualsAPositiveIsExcludedLikeIt) {
  // Corpus rows 1 and 4 are equal, and 2 and 3.
  const std::vector<std::uint32_t> first{0, 1, 2, 2, 1, 5};
  const Exclusions alone(3, 6, {}, {}, first);
  EXPECT_EQ(excluded(alone, 0, 6), (std::vector<int>{0}));
  EXPECT_EQ(excluded(alone, 1, 6), (std::vector<int>{1, 4}));
  EXPECT_EQ(excluded(alone, 2, 6), (std::vector<int>{2, 3}));
  const Exclusions mates(3, 6, Positives({3, 4, 0}), std::vector<GroupIds>{{7, 8, 8}}, first);
  EXPECT_EQ(excluded(mates, 0, 6), (std::vector<int>{2, 3}));
  EXPECT_EQ(excluded(mates, 1, 6), (std::vector<int>{0, 1, 4}));
  EXPECT_EQ(excluded(mates, 2, 6), (std::vector<int>{0, 1, 4}));
}

TEST(Exclusions, RefusesWhatDoesNotFit) {
  const auto kind_of = [](std::size_t rows, std::size_t columns, const Positives& positives,
                          const std::vector<GroupIds>& groups) {
    try {
      const Exclusions exclusions(rows, columns, positives, groups);
    } catch (const Error& error) {
      return name_of(error.kind());
    }
    return "nothing";
  };
  EXPECT_STREQ(kind_of(3, 3, {}, {}), "nothing");
  EXPECT_STREQ(kind_of(3, 2, {}, {}), "input");
  EXPECT_STREQ(kind_of(3, 2, Positives({0, 1, 1}), {}), "nothing");
  EXPECT_STREQ(kind_of(3, 2, Positives({0, 1}), {}), "input");
  EXPECT_STREQ(kind_of(3, 2, Positives({0, 1, 2}), {}), "input");
  EXPECT_STREQ(kind_of(3, 2, Positives({0, 1, -1}), {}), "input");
  EXPECT_STREQ(kind_of(3, 3, {}, {{1, 2}}), "input");
}

}  // namespace
}  // namespace gcbs
