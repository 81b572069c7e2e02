// Edges under a filter against contract C10 by brute force: every kernel and stand-in, kinds of matrices,
// awkward sizes, combinations of options, limits that are similarities themselves, thread counts, shortcuts.
#include "graph_filter.h"

#include <gtest/gtest.h>

#include <random>

#include "gcbs/error.h"
#include "support/filters.h"
#include "support/kernels.h"

namespace gcbs {
namespace {

using namespace testing;

struct Sides {
  Matrix x, y, guide_x, guide_y;

  Sides(const std::string& kind, std::size_t rows, std::size_t cols)
      : x(make_matrix(kind, rows, cols, 1)),
        y(make_matrix(kind, rows, cols, 2)),
        guide_x(make_matrix("clustered", rows, cols / 2 + 1, 3)),
        guide_y(make_matrix("clustered", rows, cols / 2 + 1, 4)) {
    // Positives above most negatives, as in a data set that is worth filtering.
    for (std::size_t k = 0; k < y.values.size(); ++k)
      if (k / cols % 3 != 0) y.values[k] = 0.8f * x.values[k] + 0.2f * y.values[k];
  }
};

struct NamedFilter {
  std::string name;
  FilterOptions options;
};

/// Each option alone, and together. `all`: similarities of X and Y, to take limits from.
std::vector<NamedFilter> many_filters(const Sides& data) {
  const std::size_t n = data.x.rows;
  std::vector<std::int64_t> halves(n), thirds(n), one(n, 7);
  for (std::size_t i = 0; i < n; ++i) halves[i] = static_cast<std::int64_t>(i / 2), thirds[i] = i % 3;
  const std::vector<double> all = all_similarities(data.x, data.y);
  std::vector<NamedFilter> filters;
  const auto add = [&](const std::string& name, auto&& set) {
    FilterOptions options;
    set(options);
    filters.push_back({name, options});
  };
  add("groups", [&](FilterOptions& f) { f.groups = {halves}; });
  add("two lists", [&](FilterOptions& f) { f.groups = {halves, thirds}; });
  add("one group", [&](FilterOptions& f) { f.groups = {one}; });
  add("duplicates", [&](FilterOptions& f) { f.duplicates = true; });
  add("relative 0", [&](FilterOptions& f) { f.relative_margin = 0; });
  add("relative", [&](FilterOptions& f) { f.relative_margin = 0.05; });
  add("absolute", [&](FilterOptions& f) { f.absolute_margin = 0.1; });
  add("a value is the limit", [&](FilterOptions& f) { f.max_score = all[1 % all.size()]; });
  add("below all", [&](FilterOptions& f) { f.max_score = -2; });
  add("symmetric", [&](FilterOptions& f) { f.relative_margin = 0.02, f.symmetric = true; });
  add("skip", [&](FilterOptions& f) { f.skip_top = 2; });
  add("skip and margin", [&](FilterOptions& f) { f.skip_top = 1, f.relative_margin = 0.05; });
  const auto guide = [&](FilterOptions& f) {
    f.guide_x = data.guide_x.view("guide x");
    f.guide_y = data.guide_y.view("guide y");
  };
  add("guide", [&](FilterOptions& f) { guide(f), f.relative_margin = 0.05; });
  add("everything", [&](FilterOptions& f) {
    guide(f);
    f.groups = {halves};
    f.duplicates = f.symmetric = true;
    f.absolute_margin = 0.05, f.max_score = 0.97, f.skip_top = 1;
  });
  return filters;
}

FilterReference reference(const Sides& data, const FilterOptions& options) {
  const bool guided = options.is_guided();
  return FilterReference(options, data.x, data.y, guided ? &data.guide_x : nullptr,
                         guided ? &data.guide_y : nullptr);
}

FoundEdges find(const Sides& data, const FilterOptions& options, std::uint64_t wanted, const Kernel& kernel,
                unsigned threads = 1, const SimilarityOptions& similarity = {}) {
  RunContext run;
  run.threads = threads;
  const Rows x(data.x.view("x"), false, run), y(data.y.view("y"), false, run);
  const StageMark silent = [](std::string_view) {};
  const GraphFilter filter(options, wanted, x, y, kernel, run, silent);
  return find_edges(x, y, 0, similarity, kernel, run, silent, &filter.edges());
}

void expect_edges(const FilterReference& reference, std::uint64_t wanted, const FoundEdges& found) {
  const FilterReference::Expected expected = reference.edges(wanted);
  EXPECT_EQ(found.threshold.value, expected.threshold);
  EXPECT_EQ(listed(found.edges), expected.edges);
}

class FilteredEdges : public ::testing::TestWithParam<NamedKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, FilteredEdges, ::testing::ValuesIn(runnable_kernels()),
                         [](const auto& kernel) { return kernel.param.name; });

TEST_P(FilteredEdges, AreThoseOfTheDefinition) {
  struct Size {
    std::size_t rows, cols;
  };
  for (const Size size : {Size{4, 1}, Size{17, 65}, Size{67, 33}})
    for (const std::string& kind : kinds_of_matrices()) {
      if (kSlowBuild && kind != "clustered" && kind != "duplicates") continue;
      const Sides data(kind, size.rows, size.cols);
      for (const auto& [name, options] : many_filters(data)) {
        if (options.skip_top + 1 >= size.rows) continue;
        const FilterReference by_letter = reference(data, options);
        const std::uint64_t n = size.rows;
        for (const std::uint64_t wanted : {std::uint64_t{0}, std::uint64_t{1}, n, 5 * n, n * n}) {
          SCOPED_TRACE(kind + " " + std::to_string(n) + ", " + name + ", " + std::to_string(wanted));
          expect_edges(by_letter, wanted, find(data, options, wanted, *GetParam().kernel));
          if (HasFailure()) return;
        }
      }
    }
}

TEST_P(FilteredEdges, AreTheSameForEveryThreadCountAndShortcut) {
  constexpr std::size_t kRows = 180;
  for (const std::string kind : {"clustered", "duplicates", "normal"}) {
    const Sides data(kind, kRows, 40);
    for (const auto& [name, options] : many_filters(data)) {
      if (kSlowBuild && name != "everything") continue;
      const FilterReference by_letter = reference(data, options);
      for (const Shortcut shortcut : {Shortcut::on, Shortcut::off}) {
        SimilarityOptions similarity;
        similarity.shortcut = shortcut;
        for (const unsigned threads : {1u, 2u, 3u, 7u}) {
          SCOPED_TRACE(kind + ", " + name + ", " + name_of(shortcut) + ", " + std::to_string(threads));
          expect_edges(by_letter, 8 * kRows,
                       find(data, options, 8 * kRows, *GetParam().kernel, threads, similarity));
          if (HasFailure()) return;
        }
      }
    }
  }
}

/// More rows than are sampled whole: the band comes from a sample. Values of onehot rows all tie.
TEST_P(FilteredEdges, OfManyRows) {
  if (kSlowBuild) GTEST_SKIP();
  constexpr std::size_t kRows = 2100;
  for (const std::string kind : {"clustered", "onehot"}) {
    const Sides data(kind, kRows, 24);
    FilterOptions options;
    options.relative_margin = 0.05;
    options.groups = {std::vector<std::int64_t>(kRows)};
    for (std::size_t i = 0; i < kRows; ++i) options.groups[0][i] = static_cast<std::int64_t>(i / 3);
    const FilterReference by_letter = reference(data, options);
    for (const std::uint64_t wanted : {std::uint64_t{20 * kRows}, std::uint64_t{kRows * kRows}}) {
      SCOPED_TRACE(kind + ", " + std::to_string(wanted));
      expect_edges(by_letter, wanted, find(data, options, wanted, *GetParam().kernel, 2));
    }
  }
}

TEST(EdgesOfAFilter, OfAnEstimateAreAdmissibleAndAboveIt) {
  const Sides data("clustered", 300, 24);
  SimilarityOptions similarity;
  similarity.threshold = ThresholdMode::estimate;
  const std::vector<double> all = all_similarities(data.x, data.y);
  for (const auto& [name, options] : many_filters(data)) {
    SCOPED_TRACE(name);
    if (options.skip_top > 0) continue;
    const FilterReference by_letter = reference(data, options);
    const FoundEdges found = find(data, options, 2400, kScalarKernel, 2, similarity);
    std::vector<std::pair<Vertex, Vertex>> expected;
    for (Vertex i = 0; i < 300; ++i)
      for (Vertex j = 0; j < 300; ++j)
        if (by_letter.admits(i, j) && all[i * 300 + j] > found.threshold.value) expected.emplace_back(i, j);
    EXPECT_EQ(listed(found.edges), expected);
    EXPECT_LE(found.edges.count(), 2410u);
  }
}

TEST(EdgesOfAFilter, KnowNoPaperThreshold) {
  SimilarityOptions similarity;
  similarity.threshold = ThresholdMode::paper;
  FilterOptions options;
  EXPECT_NO_THROW(check_graph_filter(options, similarity, 10));
  options.duplicates = true;
  EXPECT_THROW(check_graph_filter(options, similarity, 10), Error);
  const Sides data("normal", 10, 4);
  EXPECT_THROW(find(data, options, 10, kScalarKernel, 1, similarity), Error);
}

TEST(WantedEdges, AreWhatMAndQSay) {
  SimilarityOptions options;
  EXPECT_EQ(count_wanted_edges(options, 64, 1000), 64000u);
  options.neighbours = 2.5;
  EXPECT_EQ(count_wanted_edges(options, 64, 5), 13u);
  options.quantile = 0.9;
  EXPECT_EQ(count_wanted_edges(options, 64, 10), 10u);
}

TEST(PairJudge, AndItsSieveDecideAsTheDefinition) {
  RunContext run;
  run.threads = 2;
  for (const std::string& kind : kinds_of_matrices()) {
    const Sides data(kind, 60, 24);
    const Rows x(data.x.view("x"), false, run), y(data.y.view("y"), false, run);
    const FinePrepared fine = prepare_fine(x, y, {}, {}, run);
    for (const auto& [name, options] : many_filters(data)) {
      SCOPED_TRACE(kind + ", " + name);
      const FilterReference by_letter = reference(data, options);
      const PairJudge judge(options, x, y, run);
      const SieveOperands operands(judge, fine, run);
      PairSieve sieve(judge, operands, kScalarKernel);
      std::vector<SeenPair> pairs;
      constexpr double kInfinity = std::numeric_limits<double>::infinity();
      for (Vertex i = 0; i < 60; ++i)
        for (Vertex j = 0; j < 60; ++j) pairs.push_back({i, j, -kInfinity, kInfinity});
      std::vector<std::uint8_t> admitted(pairs.size());
      sieve.judge(pairs, admitted);
      std::size_t differ = 0;
      for (std::size_t p = 0; p < pairs.size(); ++p) {
        const bool expected = by_letter.admits(pairs[p].row, pairs[p].col);
        differ += judge.admits(pairs[p].row, pairs[p].col) != expected || (admitted[p] != 0) != expected;
      }
      EXPECT_EQ(differ, 0u);
    }
  }
}

TEST(PairJudge, RefusesWhatDoesNotFit) {
  const Sides data("normal", 20, 4);
  const Matrix narrow = make_matrix("normal", 20, 3, 1), few = make_matrix("normal", 19, 4, 1);
  RunContext run;
  const Rows x(data.x.view("x"), false, run), y(data.y.view("y"), false, run);
  const auto kind_of = [&](auto&& set) {
    FilterOptions options;
    set(options);
    try {
      const PairJudge judge(options, x, y, run);
    } catch (const Error& error) {
      return std::optional(error.kind());
    }
    return std::optional<ErrorKind>();
  };
  const auto guide = [](FilterOptions& f, const Matrix& a, const Matrix& b) {
    f.guide_x = a.view("a"), f.guide_y = b.view("b"), f.relative_margin = 0.1;
  };
  EXPECT_EQ(kind_of([&](FilterOptions& f) { guide(f, narrow, narrow); }), std::nullopt);
  EXPECT_EQ(kind_of([&](FilterOptions& f) { guide(f, narrow, data.x); }), ErrorKind::input);
  EXPECT_EQ(kind_of([&](FilterOptions& f) { guide(f, few, few); }), ErrorKind::input);
  EXPECT_EQ(kind_of([&](FilterOptions& f) { f.groups = {{1, 2}}; }), ErrorKind::input);
  EXPECT_EQ(kind_of([&](FilterOptions& f) { f.symmetric = true; }), ErrorKind::usage);
  EXPECT_EQ(kind_of([&](FilterOptions& f) { guide(f, narrow, narrow), f.relative_margin.reset(); }),
            ErrorKind::usage);
  EXPECT_EQ(kind_of([&](FilterOptions& f) { guide(f, narrow, narrow), f.guide_y.reset(); }),
            ErrorKind::usage);
  EXPECT_EQ(kind_of([&](FilterOptions& f) { f.relative_margin = 1.5; }), ErrorKind::usage);
}

}  // namespace
}  // namespace gcbs
