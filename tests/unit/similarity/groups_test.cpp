// Groups against the plain question: have two rows the same id in any list?
#include "similarity/groups.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.h"
#include "gcbs/error.h"

namespace gcbs {
namespace {

GroupIds random_ids(std::size_t count, std::uint64_t below, std::uint64_t seed) {
  Random random(seed);
  GroupIds ids(count);
  for (std::int64_t& id : ids) id = static_cast<std::int64_t>(random.below(below)) - 2;
  return ids;
}

TEST(Groups, AreWhatTheListsSay) {
  constexpr std::size_t kRows = 70;
  const std::vector<std::vector<GroupIds>> cases = {
      {random_ids(kRows, 5, 1)},
      {random_ids(kRows, 40, 2), random_ids(kRows, 30, 3)},
      {random_ids(kRows, 1, 4)},  // one giant group
      {random_ids(kRows, 20, 5), random_ids(kRows, 1000, 6), random_ids(kRows, 3, 7)}};
  for (const std::vector<GroupIds>& lists : cases) {
    const Groups groups(lists, kRows);
    EXPECT_FALSE(groups.empty());
    ASSERT_EQ(groups.lists(), lists.size());  // every list here has mates
    for (std::size_t i = 0; i < kRows; ++i)
      for (std::size_t j = 0; j < kRows; ++j) {
        bool mates = false;
        for (const GroupIds& ids : lists) mates = mates || ids[i] == ids[j];
        ASSERT_EQ(groups.are_mates(i, j), mates) << i << " " << j;
      }
    for (std::size_t l = 0; l < lists.size(); ++l)
      for (std::size_t i = 0; i < kRows; ++i) {
        std::vector<Vertex> expected;
        for (std::size_t j = 0; j < kRows; ++j)
          if (lists[l][j] == lists[l][i]) expected.push_back(static_cast<Vertex>(j));
        const auto found = groups.members(l, i);
        ASSERT_EQ(std::vector<Vertex>(found.begin(), found.end()), expected);
        ASSERT_EQ(groups.group_of(l, i), groups.group_of(l, expected.front()));
      }
  }
}

TEST(Groups, ExtremeIdsAreIdsAsAnyOther) {
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min(),
                 kMost = std::numeric_limits<std::int64_t>::max();
  const std::vector<GroupIds> lists{{kLeast, kMost, -1, kLeast, 0, kMost}};
  const Groups groups(lists, 6);
  EXPECT_TRUE(groups.are_mates(0, 3));
  EXPECT_TRUE(groups.are_mates(1, 5));
  EXPECT_FALSE(groups.are_mates(0, 1));
  EXPECT_FALSE(groups.are_mates(2, 4));
}

TEST(Groups, ListsWithoutMatesAreDropped) {
  EXPECT_TRUE(Groups().empty());
  EXPECT_FALSE(Groups().are_mates(0, 1));
  const std::vector<GroupIds> alone{{5, 3, 4}, {-1, 0, 1}};
  EXPECT_TRUE(Groups(alone, 3).empty());
  const std::vector<GroupIds> one{{5, 3, 4}, {7, 8, 7}};
  const Groups groups(one, 3);
  EXPECT_EQ(groups.lists(), 1u);
  EXPECT_TRUE(groups.are_mates(0, 2));
  EXPECT_FALSE(groups.are_mates(0, 1));
}

TEST(Groups, AListOfTheWrongLengthIsRefused) {
  for (const std::size_t size : {0u, 2u, 4u}) {
    const std::vector<GroupIds> lists{{1, 1, 2}, GroupIds(size, 1)};
    try {
      const Groups groups(lists, 3);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_NE(error.problem().find(std::to_string(size) + " group ids for 3 rows"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace gcbs
