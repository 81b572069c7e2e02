// Limits of contract C10, and what is refused.
#include "similarity/admissible.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "gcbs/error.h"
#include "loss/terms.h"

namespace gcbs {
namespace {

Array<double> positives() {
  Array<double> list(5);
  const double values[] = {1, 0.5, 0, -0.25, -1};
  std::copy(std::begin(values), std::end(values), list.begin());
  return list;
}

std::vector<double> limits(const FilterOptions& options) {
  const Admissible admissible = make_admissible(options, positives(), {});
  EXPECT_EQ(admissible.has_margins(), options.has_margins());
  return {admissible.limit.begin(), admissible.limit.end()};
}

TEST(Admissible, WithoutMarginsHasNoLimits) {
  EXPECT_TRUE(limits({}).empty());
  FilterOptions groups;
  groups.groups = {{1, 2, 1, 3, 4}};
  EXPECT_TRUE(limits(groups).empty());
  EXPECT_TRUE(make_admissible(groups, positives(), {}).groups.are_mates(0, 2));
  EXPECT_TRUE(make_admissible({}, positives(), {}).groups.empty());
}

TEST(Admissible, LimitsAreTheSmallestOfWhatTheMarginsAllow) {
  FilterOptions options;
  options.relative_margin = 0.5;
  EXPECT_EQ(limits(options), (std::vector<double>{0.5, 0.25, 0, -0.375, -1.5}));
  options.absolute_margin = 0.375;
  EXPECT_EQ(limits(options), (std::vector<double>{0.5, 0.125, -0.375, -0.625, -1.5}));
  options.max_score = 0.25;
  EXPECT_EQ(limits(options), (std::vector<double>{0.25, 0.125, -0.375, -0.625, -1.5}));
  options = {};
  options.max_score = 0.75;
  EXPECT_EQ(limits(options), std::vector<double>(5, 0.75));
  options.max_score = kInfinity;
  EXPECT_EQ(limits(options), std::vector<double>(5, kInfinity));
  options = {};
  options.absolute_margin = -0.5;
  EXPECT_EQ(limits(options), (std::vector<double>{1.5, 1, 0.5, 0.25, -0.5}));
}

TEST(Admissible, MarginsOutOfRangeAreRefused) {
  const auto refused = [](ErrorKind kind, const std::function<void(FilterOptions&)>& set) {
    FilterOptions options;
    set(options);
    for (const bool whole : {false, true}) {
      if (!whole && kind == ErrorKind::input) continue;  // ids need the data
      try {
        if (whole)
          make_admissible(options, positives(), {});
        else
          check_filter(options);
        ADD_FAILURE() << "nothing was thrown";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kind);
      }
    }
  };
  for (const double bad : {-0.001, 1.001, std::nan(""), kInfinity})
    refused(ErrorKind::usage, [&](FilterOptions& f) { f.relative_margin = bad; });
  for (const double bad : {std::nan(""), kInfinity, -kInfinity})
    refused(ErrorKind::usage, [&](FilterOptions& f) { f.absolute_margin = bad; });
  refused(ErrorKind::usage, [](FilterOptions& f) { f.max_score = std::nan(""); });
  refused(ErrorKind::input, [](FilterOptions& f) { f.groups = {{1, 2, 3, 4}}; });
  for (const double good : {0.0, 1.0}) {
    FilterOptions options;
    options.relative_margin = good;
    EXPECT_NO_THROW(check_filter(options));
  }
}

}  // namespace
}  // namespace gcbs
