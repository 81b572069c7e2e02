// The engine against the float64 brute force: every kernel this machine has and every stand-in, every
// kind of matrix, awkward sizes, every option, thread counts.
#include "mining/top_rows.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "support/kernels.h"
#include "support/matrices.h"
#include "unit/mining/brute_force.h"

namespace gcbs {
namespace {

using namespace testing;

Mined run(const Matrix& x, const Matrix& y, const MiningOptions& options, const Kernel& kernel,
          unsigned threads = 1) {
  RunContext context;
  context.threads = threads;
  const Rows rows_x(x.view("x"), false, context), rows_y(y.view("y"), false, context);
  const Exclusions exclusions(x.rows, y.rows, options.positives, options.groups);
  const TopRows found =
      find_top_rows(rows_x, rows_y, exclusions, options, kernel, context, [](std::string_view) {});
  return mined(found.columns, found.scores);
}

MiningOptions wanting(std::size_t top, std::size_t skip = 0) {
  MiningOptions options;
  options.top = top;
  options.skip_top = skip;
  return options;
}

std::vector<std::int64_t> random_ids(std::size_t count, std::size_t below, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::int64_t> ids(count);
  for (std::int64_t& id : ids) id = static_cast<std::int64_t>(random.below(below)) - 3;
  return ids;
}

/// Everything that can be asked of `rows` rows and `columns` columns, one thing or several at a time.
/// Scores lie where some similarities of this kind of matrix are.
std::vector<std::pair<std::string, MiningOptions>> many_options(std::size_t rows, std::size_t columns,
                                                                const std::vector<double>& all) {
  std::vector<std::pair<std::string, MiningOptions>> list;
  const auto add = [&](const std::string& name, MiningOptions options) { list.emplace_back(name, options); };
  for (const std::size_t top : {std::size_t{1}, std::size_t{5}, columns - 1, columns + 3})
    add("top " + std::to_string(top), wanting(top));
  add("skip", wanting(4, 3));
  add("skip nearly all", wanting(2, columns - 2));
  for (const double margin : {0.0, 0.05, 0.7, 1.0}) {
    MiningOptions options = wanting(3);
    options.relative_margin = margin;
    add("relative " + std::to_string(margin), options);
    options = wanting(3, 1);
    options.absolute_margin = margin;
    add("absolute " + std::to_string(margin), options);
  }
  MiningOptions options = wanting(3);
  options.max_score = quantile_of(all, 0.8);
  add("max score", options);
  options.max_score = all[all.size() / 2];  // a value that occurs
  options.min_score = all[all.size() / 3];
  if (*options.min_score > *options.max_score) std::swap(options.min_score, options.max_score);
  add("both scores", options);
  options = wanting(columns, 2);
  options.min_score = all[0];
  options.relative_margin = 0;
  options.absolute_margin = 0.01;
  add("all margins", options);

  options = wanting(3);
  options.groups = {random_ids(rows, rows / 2 + 1, 1), random_ids(rows, rows / 3 + 1, 2)};
  add("two lists", options);
  options.relative_margin = 0.02;
  options.skip_top = 1;
  add("two lists, margin, skip", options);
  options = wanting(3);
  options.groups = {std::vector<std::int64_t>(rows, 7)};
  if (rows > 2) options.groups[0][rows / 2] = 8;
  add("giant group", options);
  options = wanting(3);
  options.positives.emplace();
  for (std::size_t i = 0; i < rows; ++i)
    options.positives->push_back(static_cast<std::int64_t>(columns - 1 - i * 7 % (columns / 2 + 1)));
  add("shared positives", options);
  options.groups = {random_ids(rows, rows / 2 + 1, 3)};
  options.absolute_margin = 0.02;
  add("shared positives, groups, margin", options);
  return list;
}

struct Size {
  std::size_t rows, columns, dim;
};

void compare_all(const std::string& kind, Size size, const Kernel& kernel) {
  const Matrix x = make_matrix(kind, size.rows, size.dim, 1),
               y = make_matrix(kind, size.columns, size.dim, 2);
  const std::vector<double> all = all_similarities(x, y);
  for (const auto& [name, options] : many_options(size.rows, size.columns, all)) {
    SCOPED_TRACE(kind + " " + std::to_string(size.rows) + " of " + std::to_string(size.columns) + " x " +
                 std::to_string(size.dim) + ": " + name);
    ASSERT_EQ(run(x, y, options, kernel), mine_by_brute_force(all, size.rows, size.columns, options));
  }
}

class MiningKernel : public ::testing::TestWithParam<NamedKernel> {};

TEST_P(MiningKernel, GivesTheNegativesOfTheDefinition) {
  for (const Size size : {Size{1, 2, 1}, Size{2, 2, 3}, Size{3, 3, 3}, Size{17, 17, 65}, Size{65, 65, 1},
                          Size{131, 131, 33}, Size{1, 70, 20}, Size{30, 257, 65}})
    for (const std::string& kind : kinds_of_matrices()) {
      if (kSlowBuild && size.rows > 50 && kind != "clustered") continue;
      compare_all(kind, size, *GetParam().kernel);
    }
}

TEST_P(MiningKernel, PrunesALongerCorpusWithoutLosingAnything) {
  // Many more tiles than contenders: limits rise, rows are thinned and ranked on the way.
  for (const std::string& kind : kinds_of_matrices()) {
    if (kSlowBuild && kind != "nearly" && kind != "duplicates") continue;
    const Matrix x = make_matrix(kind, 37, 40, 3), y = make_matrix(kind, 2500, 40, 4);
    const std::vector<double> all = all_similarities(x, y);
    for (MiningOptions options : {wanting(1), wanting(6, 2), wanting(50)})
      for (const bool margin : {false, true}) {
        SCOPED_TRACE(kind + " top " + std::to_string(options.top) + (margin ? " margin" : ""));
        if (margin) options.absolute_margin = 0.0;
        ASSERT_EQ(run(x, y, options, *GetParam().kernel), mine_by_brute_force(all, 37, 2500, options));
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, MiningKernel, ::testing::ValuesIn(runnable_kernels()),
                         [](const auto& kernel) { return kernel.param.name; });

TEST(TopRows, TheSameForEveryThreadCount) {
  const Matrix x = make_matrix("clustered", 5000, 24, 9), y = make_matrix("clustered", 6000, 24, 10);
  MiningOptions options = wanting(4, 1);
  options.relative_margin = 0.01;
  options.groups = {random_ids(5000, 900, 4)};
  const Kernel& kernel = kernel_for(choose_isa());
  const Mined one = run(x, y, options, kernel, 1);
  for (const unsigned threads : {2u, 3u, 7u}) EXPECT_EQ(run(x, y, options, kernel, threads), one);
}

TEST(TopRows, ThousandsOfEqualRowsTieToTheLowestIndex) {
  // A row that occurs thousands of times, among others, in scattered places.
  constexpr std::size_t kRows = 400, kColumns = kSlowBuild ? 3000 : 9000, kDim = 48;
  const Matrix x = make_matrix("clustered", kRows, kDim, 5);
  Matrix y = make_matrix("clustered", kColumns, kDim, 6);
  for (std::size_t j = 0; j < kColumns; ++j)
    if (j % 3 != 0)
      std::copy_n(x.values.begin() + static_cast<std::ptrdiff_t>(j % 2 * kDim), kDim,
                  y.values.begin() + static_cast<std::ptrdiff_t>(j * kDim));
  const std::vector<double> all = all_similarities(x, y);
  for (MiningOptions options : {wanting(1), wanting(10, 5), wanting(100)})
    for (const bool margin : {false, true}) {
      if (margin) options.relative_margin = 0.0;
      EXPECT_EQ(run(x, y, options, kernel_for(choose_isa()), 2),
                mine_by_brute_force(all, kRows, kColumns, options));
    }
}

TEST(TopRows, SidesOfDifferentScaleAndSigns) {
  // Positives of negative similarity: a relative margin goes by |p|.
  const Matrix x = make_matrix("normal", 60, 4, 7);
  Matrix y = x;
  for (float& value : y.values) value *= -1e-3f;
  const std::vector<double> all = all_similarities(x, y);
  MiningOptions options = wanting(5);
  for (const double margin : {0.0, 0.01, 0.5}) {
    options.relative_margin = margin;
    EXPECT_EQ(run(x, y, options, kernel_for(choose_isa())), mine_by_brute_force(all, 60, 60, options));
  }
}

}  // namespace
}  // namespace gcbs
