// The whole stage against the float64 brute force: every kernel this machine has and every stand-in,
// every kind of matrix, awkward sizes, every threshold mode, heads on and off, thread counts.
#include "similarity/find_edges.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/kernels.h"
#include "support/matrices.h"

namespace gcbs {
namespace {

using namespace testing;

FoundEdges run(const Matrix& x, const Matrix& y, double quantile, const SimilarityOptions& options,
               const Kernel& kernel, unsigned threads = 1) {
  RunContext context;
  context.threads = threads;
  const Rows rows_x(x.view("x"), false, context), rows_y(y.view("y"), false, context);
  return find_edges(rows_x, rows_y, quantile, options, kernel, context, [](std::string_view) {});
}

class EveryKernel : public ::testing::TestWithParam<NamedKernel> {};

TEST_P(EveryKernel, GivesTheEdgesOfTheDefinition) {
  struct Size {
    std::size_t rows, cols;
  };
  for (const Size size : {Size{2, 1}, Size{3, 3}, Size{17, 65}, Size{50, 7}, Size{131, 33}, Size{64, 200}})
    for (const std::string& kind : testing::kinds_of_matrices()) {
      if (kSlowBuild && size.rows > 50 && kind != "clustered") continue;
      const Matrix x = make_matrix(kind, size.rows, size.cols, 1),
                   y = make_matrix(kind, size.rows, size.cols, 2);
      const std::vector<double> all = all_similarities(x, y);
      for (const double q : {0.0, 0.3, 0.9, 0.99, 1 - 1e-9, 1 - 0x1p-53}) {
        if (kSlowBuild && q != 0.9 && q != 1 - 1e-9) continue;
        for (const Shortcut shortcut : {Shortcut::off, Shortcut::on}) {
          if (shortcut == Shortcut::on && q != 0.9) continue;
          SCOPED_TRACE(kind + " " + std::to_string(size.rows) + "x" + std::to_string(size.cols) + " q " +
                       std::to_string(q) + " shortcut " + name_of(shortcut));
          SimilarityOptions options;
          options.shortcut = shortcut;
          const FoundEdges found = run(x, y, q, options, *GetParam().kernel);
          const double t = testing::quantile_of(all, q);
          ASSERT_EQ(found.threshold.value, t);
          ASSERT_EQ(listed(found.edges), edges_above(all, size.rows, size.rows, t, false));
        }
      }
    }
}

TEST_P(EveryKernel, TwoPartsInClusterOrderGiveTheSame) {
  struct Size {
    std::size_t rows, cols;
  };
  for (const Size size : {Size{211, 130}, Size{333, 199}})
    for (const std::string& kind : testing::kinds_of_matrices()) {
      if (kSlowBuild && (size.rows > 300 || (kind != "clustered" && kind != "duplicates"))) continue;
      const Matrix x = make_matrix(kind, size.rows, size.cols, 11),
                   y = make_matrix(kind, size.rows, size.cols, 12);
      const std::vector<double> all = all_similarities(x, y);
      for (const ThresholdMode mode : {ThresholdMode::exact, ThresholdMode::estimate}) {
        SCOPED_TRACE(kind + " " + std::to_string(size.rows) + "x" + std::to_string(size.cols));
        SimilarityOptions options;
        options.shortcut = Shortcut::on;
        options.threshold = mode;
        const FoundEdges found = run(x, y, 0.97, options, *GetParam().kernel, 2);
        if (mode == ThresholdMode::exact) {
          ASSERT_EQ(found.threshold.value, testing::quantile_of(all, 0.97));
        }
        ASSERT_EQ(listed(found.edges), edges_above(all, size.rows, size.rows, found.threshold.value, false));
      }
    }
}

TEST_P(EveryKernel, FindsThePapersThreshold) {
  for (const std::size_t rows : {2u, 3u, 4u, 31u, 100u})
    for (const std::string& kind : testing::kinds_of_matrices()) {
      const Matrix x = make_matrix(kind, rows, 24, 3), y = make_matrix(kind, rows, 24, 4);
      const std::vector<double> all = all_similarities(x, y);
      for (const double q : {0.0, 0.8, 0.97}) {
        SCOPED_TRACE(kind + " " + std::to_string(rows) + " q " + std::to_string(q));
        SimilarityOptions options;
        options.threshold = ThresholdMode::paper;
        options.keep_diagonal = true;
        const FoundEdges found = run(x, y, q, options, *GetParam().kernel);
        const double t = testing::paper_threshold(all, rows, rows, q);
        ASSERT_EQ(found.threshold.value, t);
        ASSERT_EQ(listed(found.edges), edges_above(all, rows, rows, t, true));
      }
    }
}

TEST_P(EveryKernel, AnEstimateDecidesByTheDefinitionToo) {
  for (const std::string& kind : testing::kinds_of_matrices()) {
    SCOPED_TRACE(kind);
    const Matrix x = make_matrix(kind, 90, 48, 5), y = make_matrix(kind, 90, 48, 6);
    SimilarityOptions options;
    options.threshold = ThresholdMode::estimate;
    const FoundEdges found = run(x, y, 0.95, options, *GetParam().kernel);
    EXPECT_LE(found.threshold.low, found.threshold.value);
    EXPECT_GE(found.threshold.high, found.threshold.value);
    EXPECT_EQ(listed(found.edges), edges_above(all_similarities(x, y), 90, 90, found.threshold.value, false));
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryKernel, ::testing::ValuesIn(runnable_kernels()),
                         [](const auto& kernel) { return kernel.param.name; });

TEST(FindEdges, SampledThresholdsAreExactToo) {
  // More than 2^22 pairs: the threshold comes from a sampled band, not from all values. Where values
  // tie (onehot, equal), the band overflows and counting takes over.
  const Kernel& kernel = kernel_for(choose_isa());
  const std::size_t rows = 2111;
  std::vector<std::string> kinds{"rand", "onehot"};
  if (!kSlowBuild) kinds.insert(kinds.end(), {"clustered", "equal"});
  for (const std::string& kind : kinds) {
    const Matrix x = make_matrix(kind, rows, 20, 7), y = make_matrix(kind, rows, 20, 8);
    const std::vector<double> all = all_similarities(x, y);
    std::vector<double> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    for (const double q : {0.5, 0.9995}) {
      SCOPED_TRACE(kind + " " + std::to_string(q));
      const FoundEdges found = run(x, y, q, {}, kernel, 2);
      const double t = quantile_of_sorted(sorted, q);
      ASSERT_EQ(found.threshold.value, t);
      ASSERT_EQ(listed(found.edges), edges_above(all, rows, rows, t, false));
    }
    SCOPED_TRACE(kind + " paper");
    SimilarityOptions options;
    options.threshold = ThresholdMode::paper;
    const FoundEdges found = run(x, y, 0.97, options, kernel, 2);
    const double t = paper_threshold(all, rows, rows, 0.97);
    ASSERT_EQ(found.threshold.value, t);
    ASSERT_EQ(listed(found.edges), edges_above(all, rows, rows, t, false));
  }
}

TEST(FindEdges, EqualRowsAreScannedOnceAndCountedAsOften) {
  // Five rows of X to each distinct row of Y, in scattered places, as captions of images; and both sides.
  constexpr std::size_t kRows = kSlowBuild ? 700 : 2200, kCols = 130;
  const Matrix few = make_matrix("clustered", kRows / 5, kCols, 21);
  Matrix y = make_matrix("clustered", kRows, kCols, 22);
  for (std::size_t i = 0; i < kRows; ++i)
    std::copy_n(few.values.begin() + static_cast<std::ptrdiff_t>(i * 7 % (kRows / 5) * kCols), kCols,
                y.values.begin() + static_cast<std::ptrdiff_t>(i * kCols));
  const Kernel& kernel = kernel_for(choose_isa());
  for (const Matrix& x : {make_matrix("clustered", kRows, kCols, 23), y}) {
    const std::vector<double> all = all_similarities(x, y);
    std::vector<double> sorted = all;
    std::sort(sorted.begin(), sorted.end());
    for (const double q : {0.6, 0.999})
      for (const Shortcut shortcut : {Shortcut::off, Shortcut::automatic, Shortcut::on})
        for (const bool keep_diagonal : {false, true}) {
          SCOPED_TRACE(std::to_string(q) + " " + name_of(shortcut));
          SimilarityOptions options;
          options.shortcut = shortcut;
          options.keep_diagonal = keep_diagonal;
          const FoundEdges found = run(x, y, q, options, kernel, 2);
          const double t = quantile_of_sorted(sorted, q);
          ASSERT_EQ(found.threshold.value, t);
          ASSERT_EQ(listed(found.edges), edges_above(all, kRows, kRows, t, keep_diagonal));
        }
  }
}

TEST(FindEdges, AnEstimateIsTheSameWithAndWithoutShortcuts) {
  const Matrix x = make_matrix("duplicates", 2111, 130, 24), y = make_matrix("duplicates", 2111, 130, 25);
  const Kernel& kernel = kernel_for(choose_isa());
  SimilarityOptions options;
  options.threshold = ThresholdMode::estimate;
  options.shortcut = Shortcut::off;
  const FoundEdges off = run(x, y, 0.99, options, kernel);
  for (const Shortcut shortcut : {Shortcut::automatic, Shortcut::on}) {
    options.shortcut = shortcut;
    const FoundEdges found = run(x, y, 0.99, options, kernel);
    EXPECT_EQ(found.threshold.value, off.threshold.value);
    EXPECT_EQ(found.threshold.low, off.threshold.low);
    EXPECT_EQ(found.threshold.high, off.threshold.high);
    EXPECT_EQ(listed(found.edges), listed(off.edges));
  }
}

TEST(FindEdges, TheSameForEveryThreadCount) {
  const Matrix x = make_matrix("clustered", 700, 100, 9), y = make_matrix("clustered", 700, 100, 10);
  const Kernel& kernel = kernel_for(choose_isa());
  const FoundEdges one = run(x, y, 0.98, {}, kernel, 1);
  for (const Shortcut shortcut : {Shortcut::automatic, Shortcut::on})
    for (const unsigned threads : {1u, 2u, 3u, 7u}) {
      SimilarityOptions options;
      options.shortcut = shortcut;
      const FoundEdges many = run(x, y, 0.98, options, kernel, threads);
      EXPECT_EQ(one.threshold.value, many.threshold.value);
      EXPECT_EQ(listed(one.edges), listed(many.edges));
    }
}

}  // namespace
}  // namespace gcbs
