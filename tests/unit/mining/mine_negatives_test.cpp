// The public call: results, what it says about the run, and everything it refuses.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "gcbs/error.h"
#include "gcbs/mining.h"
#include "unit/mining/brute_force.h"

namespace gcbs {
namespace {

using namespace testing;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

const Matrix kX = make_matrix("clustered", 40, 12, 1), kCorpus = make_matrix("clustered", 70, 12, 2);

std::string kind_of_refusal(const std::function<void(MiningOptions&)>& change, const Matrix& x = kX,
                            const Matrix& corpus = kCorpus) {
  MiningOptions options;
  change(options);
  try {
    mine_negatives(x.view("x"), corpus.view("corpus"), options);
  } catch (const Error& error) {
    EXPECT_FALSE(error.problem().empty());
    return name_of(error.kind());
  }
  return "none";
}

TEST(MineNegatives, MinesAndSaysWhatRan) {
  MiningOptions options;
  options.top = 3;
  options.threads = 2;
  options.isa = Isa::scalar;
  const MiningResult result = mine_negatives(kX.view(), kCorpus.view(), options);
  EXPECT_EQ(result.rows, 40u);
  EXPECT_EQ(result.top, 3u);
  EXPECT_EQ(result.isa, Isa::scalar);
  EXPECT_EQ(result.threads, 2u);
  EXPECT_GT(result.peak_bytes, 40 * 3 * 12u);
  std::vector<std::string> names;
  for (const Stage& stage : result.stages) names.push_back(stage.name);
  EXPECT_EQ(names, (std::vector<std::string>{"normalise", "prepare", "join"}));
  EXPECT_EQ(mined(result.negatives, result.scores),
            mine_by_brute_force(all_similarities(kX, kCorpus), 40, 70, options));
}

TEST(MineNegatives, OneMatrixIsBothSides) {
  MiningOptions options;
  options.top = 39;
  const MiningResult result = mine_negatives(kX.view(), kX.view(), options);
  EXPECT_EQ(mined(result.negatives, result.scores),
            mine_by_brute_force(all_similarities(kX, kX), 40, 40, options));
  for (std::size_t i = 0; i < result.negatives.size(); ++i)
    EXPECT_NE(result.negatives[i], static_cast<std::int64_t>(i / 39));
}

TEST(MineNegatives, RefusesWhatIsWrongWhateverTheData) {
  EXPECT_EQ(kind_of_refusal([](MiningOptions&) {}), "none");
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) { o.top = 0; }), "usage");
  for (const double bad : {kNaN, kInfinity, -kInfinity, -0.01, 1.01})
    EXPECT_EQ(kind_of_refusal([&](MiningOptions& o) { o.relative_margin = bad; }), "usage") << bad;
  for (const double bad : {kNaN, kInfinity, -kInfinity, -0.01, 2.01})
    EXPECT_EQ(kind_of_refusal([&](MiningOptions& o) { o.absolute_margin = bad; }), "usage") << bad;
  for (const double bad : {kNaN, kInfinity, -kInfinity}) {
    EXPECT_EQ(kind_of_refusal([&](MiningOptions& o) { o.max_score = bad; }), "usage") << bad;
    EXPECT_EQ(kind_of_refusal([&](MiningOptions& o) { o.min_score = bad; }), "usage") << bad;
  }
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) { o.min_score = 0.5, o.max_score = 0.4; }), "usage");
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) { o.min_score = 0.4, o.max_score = 0.4; }), "none");
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) { o.relative_margin = 1, o.absolute_margin = 2; }), "none");
}

TEST(MineNegatives, RefusesWhatDoesNotFitTheData) {
  const auto nothing = [](MiningOptions&) {};
  EXPECT_EQ(kind_of_refusal(nothing, kCorpus, kX), "input");  // fewer corpus rows than positives
  EXPECT_EQ(kind_of_refusal(nothing, kX, make_matrix("rand", 70, 11, 1)), "input");
  EXPECT_EQ(kind_of_refusal(nothing, make_matrix("rand", 1, 12, 1), make_matrix("rand", 1, 12, 1)), "input");
  EXPECT_EQ(kind_of_refusal(nothing, Matrix{0, 12, {}}), "input");
  EXPECT_EQ(kind_of_refusal(nothing, Matrix{5, 0, {}}, Matrix{5, 0, {}}), "input");
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) { o.skip_top = 69; }), "input");
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) { o.skip_top = 68; }), "none");
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) { o.skip_top = ~std::size_t{0}; }), "input");
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) { o.groups = {{1, 2, 3}}; }), "input");
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) { o.positives = std::vector<std::int64_t>(39, 0); }),
            "input");
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) { o.positives = std::vector<std::int64_t>(40, 70); }),
            "input");
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) { o.normalised = true; }), "input");
  Matrix bad = kCorpus;
  bad.values[100] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(kind_of_refusal(nothing, kX, bad), "input");
}

TEST(MineNegatives, RefusesMoreMemoryThanAllowed) {
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) { o.memory_limit = 1; }), "resource");
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) { o.memory_limit = std::uint64_t{1} << 30; }), "none");
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) { o.top = ~std::size_t{0}; }), "resource");
  EXPECT_EQ(kind_of_refusal([](MiningOptions& o) {
              o.top = ~std::size_t{0} / 40;
              o.memory_limit = ~std::uint64_t{0};
            }),
            "resource");
}

TEST(MineNegatives, ExpectsNoLessMemoryThanItTakes) {
  const Matrix x = make_matrix("normal", 1500, 40, 3), corpus = make_matrix("normal", 2000, 40, 4);
  for (const std::size_t top : {std::size_t{1}, std::size_t{900}}) {
    MiningOptions options;
    options.top = top;
    options.threads = 3;
    const std::uint64_t peak = mine_negatives(x.view(), corpus.view(), options).peak_bytes;
    const auto limited = [&](MiningOptions& o) { o = options, o.memory_limit = peak - 1; };
    EXPECT_EQ(kind_of_refusal(limited, x, corpus), "resource") << top;
  }
}

TEST(MineNegatives, StopsWhenToldTo) {
  struct Impatient : Observer {
    bool stop_requested() noexcept override { return true; }
  } observer;
  try {
    mine_negatives(kX.view(), kCorpus.view(), {}, &observer);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
}

TEST(MineNegatives, NormalisedRowsAreUsedAsTheyAre) {
  Matrix x = make_matrix("onehot", 20, 6, 1), y = make_matrix("onehot", 20, 6, 2);
  MiningOptions options;
  options.top = 19;
  options.normalised = true;
  const MiningResult result = mine_negatives(x.view(), y.view(), options);
  EXPECT_EQ(mined(result.negatives, result.scores),
            mine_by_brute_force(all_similarities(x, y), 20, 20, options));
}

}  // namespace
}  // namespace gcbs
