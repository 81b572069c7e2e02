// The whole call: what it finds against the brute force, what it refuses, how it stops, what it holds.
#include "gcbs/gap.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <set>

#include "gcbs/error.h"
#include "unit/loss/brute_force.h"

namespace gcbs {
namespace {

using namespace testing;

NamedOrder named(std::string name, const std::vector<Vertex>& rows) {
  return {std::move(name), {rows.begin(), rows.end()}};
}

GapOptions options_of(std::size_t batch_size) {
  GapOptions options;
  options.run.batch_size = batch_size;
  options.run.threads = 2;
  options.loss.random_trials = 10;
  return options;
}

GapResult gap_of(const Data& data, const GapOptions& options, bool negatives = false,
                 Observer* observer = nullptr) {
  const MatrixView z = data.z.view("z");
  return find_gap(data.x.view("x"), data.y.view("y"), negatives ? &z : nullptr, options, observer);
}

TEST(Gap, IsTheBruteForces) {
  const Data data("clustered", 90, 20);
  for (const bool negatives : {false, true})
    for (const Direction direction : {Direction::x, Direction::y, Direction::both}) {
      SCOPED_TRACE(std::string(name_of(direction)) + (negatives ? ", negatives" : ""));
      GapOptions options = options_of(8);
      options.loss.direction = direction;
      options.loss.filter.groups = {random_ids(90, 60, 1)};
      options.methods = {Method::rcm};  // its batches keep groups apart; orders are taken as they are
      options.orders = {named("natural", in_order(90)), named("mine", shuffled(90, 3))};
      const GapResult found = gap_of(data, options, negatives);
      const BruteLoss brute(data, negatives, options.loss);
      const double global = brute.of_order(in_order(90), 90).loss[direction];
      EXPECT_NEAR(found.loss_global[direction], global, 1e-12);
      EXPECT_EQ(found.error_bound, 0);
      EXPECT_EQ(found.random.trials, 10u);
      EXPECT_LT(found.random.loss_mean, global);
      EXPECT_GT(found.random.loss_deviation, 0);
      ASSERT_EQ(found.orders.size(), 3u);
      EXPECT_EQ(found.orders[0].name, "rcm");
      EXPECT_EQ(found.orders[1].name, "natural");
      EXPECT_EQ(found.orders[2].name, "mine");
      for (const std::size_t o : {1u, 2u}) {
        const OrderGap& order = found.orders[o];
        const OrderLoss exact = brute.of_order(o == 1 ? in_order(90) : shuffled(90, 3), 8);
        EXPECT_NEAR(order.loss_train[direction], exact.loss[direction], 1e-12);
        EXPECT_NEAR(order.gap, global - exact.loss[direction], 1e-12);
        ASSERT_TRUE(order.gap_closed.has_value());
        EXPECT_NEAR(*order.gap_closed, 1 - order.gap / (global - found.random.loss_mean), 1e-11);
        EXPECT_NEAR(order.bounds.theorem1, exact.bounds.theorem1, 1e-11);
        EXPECT_NEAR(order.bounds.lemma3, exact.bounds.lemma3, 1e-11);
        EXPECT_NEAR(order.probability, exact.probability[direction], 1e-12);
        EXPECT_NEAR(order.qbap, exact.qbap, 1e-15);
        EXPECT_NEAR(order.qap, exact.qap, 1e-10);
        EXPECT_EQ(order.batches.size(), 12u);
      }
      for (const OrderGap& order : found.orders) {
        EXPECT_LE(order.loss_train[direction], found.oracle_loss + 1e-12);
        EXPECT_LE(order.edges_in_batch, found.edge_count);
        EXPECT_LT(order.bandwidth, 90u);
      }
      EXPECT_LE(found.oracle_loss, global + 1e-12);
      ASSERT_TRUE(found.oracle_gap_closed.has_value());
      EXPECT_LE(*found.oracle_gap_closed, 1);
      EXPECT_NEAR(found.quantile, 1 - 8.0 / 90, 1e-15);
      EXPECT_EQ(found.threads, 2u);
    }
}

TEST(Gap, OfOneBatchOfAllRowsIsNone) {
  const Data data("normal", 40, 10);
  GapOptions options = options_of(40);
  options.methods = {Method::chain};
  const GapResult found = gap_of(data, options);
  EXPECT_EQ(found.random.loss_mean, found.loss_global.both);
  EXPECT_EQ(found.oracle_loss, found.loss_global.both);
  EXPECT_FALSE(found.oracle_gap_closed.has_value());
  EXPECT_EQ(found.orders[0].gap, 0);
  EXPECT_FALSE(found.orders[0].gap_closed.has_value());
  EXPECT_EQ(found.orders[0].edges_in_batch, found.edge_count);
}

TEST(Gap, IsTheSameForEveryKernelAndThreadCount) {
  const Data data("clustered", kSlowBuild ? 1030 : 1100, 12);  // too many rows for a table
  GapOptions options = options_of(16);
  options.methods = {Method::rcm};
  options.loss.random_trials = 2;
  std::set<std::vector<double>> all;
  for (const Isa isa : available_isas())
    for (const unsigned threads : {1u, 3u}) {
      options.run.isa = isa;
      options.run.threads = threads;
      const GapResult found = gap_of(data, options);
      EXPECT_GT(found.error_bound, 0);
      all.insert({found.loss_global.x, found.loss_global.y, found.random.loss_mean,
                  found.random.loss_deviation, found.oracle_loss, found.orders[0].gap, found.orders[0].qap,
                  found.orders[0].bounds.theorem2, found.error_bound, *found.orders[0].outranking_in_batch});
    }
  EXPECT_EQ(all.size(), 1u);
}

void expect_refused(ErrorKind kind, const std::string& words, const Data& data, const GapOptions& options,
                    bool negatives = false) {
  try {
    gap_of(data, options, negatives);
    ADD_FAILURE() << "nothing was thrown: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), kind) << error.what();
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    EXPECT_FALSE(error.fix().empty()) << error.what();
  }
}

TEST(Gap, OrdersThatAreNoneAreRefused) {
  const Data data("normal", 5, 3);
  const auto refused = [&](const std::string& words, std::vector<std::int64_t> rows) {
    GapOptions options = options_of(2);
    options.orders = {{"fine.npy", {4, 3, 2, 1, 0}}, {"mine.npy", std::move(rows)}};
    expect_refused(ErrorKind::input, words, data, options);
    expect_refused(ErrorKind::input, "mine.npy", data, options);
  };
  refused("it has 0 entries", {});
  refused("it has 4 entries", {0, 1, 2, 3});
  refused("it has 6 entries", {0, 1, 2, 3, 4, 4});
  refused("position 2 has row 5", {0, 1, 5, 3, 4});
  refused("position 0 has row -1", {-1, 1, 2, 3, 4});
  refused("out of range", {0, 1, std::numeric_limits<std::int64_t>::max(), 3, 4});
  refused("out of range", {0, 1, std::numeric_limits<std::int64_t>::min(), 3, 4});
  refused("out of range", {0, 1, 4294967296, 3, 4});
  refused("position 3 has row 1, and so has position 1", {0, 1, 2, 1, 4});
}

TEST(Gap, OptionsOutOfRangeAreRefused) {
  const Data data("normal", 6, 3);
  const auto refused = [&](ErrorKind kind, const std::string& words,
                           const std::function<void(GapOptions&)>& set, bool negatives = false) {
    GapOptions options = options_of(2);
    set(options);
    expect_refused(kind, words, data, options, negatives);
  };
  for (const double bad : {0.0, -0.05, std::nan(""), kInfinity})
    refused(ErrorKind::usage, "temperature", [&](GapOptions& o) { o.loss.temperature = bad; });
  refused(ErrorKind::usage, "random trials", [](GapOptions& o) { o.loss.random_trials = 0; });
  refused(
      ErrorKind::usage, "simclr", [](GapOptions& o) { o.loss.form = Form::simclr; }, true);
  refused(ErrorKind::usage, "relative margin", [](GapOptions& o) { o.loss.filter.relative_margin = 2; });
  refused(ErrorKind::usage, "absolute margin",
          [](GapOptions& o) { o.loss.filter.absolute_margin = kInfinity; });
  refused(ErrorKind::usage, "maximal score", [](GapOptions& o) { o.loss.filter.max_score = std::nan(""); });
  refused(ErrorKind::input, "group ids", [](GapOptions& o) { o.loss.filter.groups = {{1, 2, 3}}; });
  refused(ErrorKind::usage, "no negatives", [](GapOptions& o) { o.run.batch_size = 1; });
  refused(ErrorKind::usage, "no negatives", [](GapOptions& o) { o.run.batch_size = 0; });
  refused(ErrorKind::input, "larger than the data", [](GapOptions& o) { o.run.batch_size = 7; });
  refused(ErrorKind::usage, "quantile", [](GapOptions& o) { o.run.similarity.quantile = 1.5; });
  refused(ErrorKind::resource, "memory", [](GapOptions& o) { o.run.memory_limit = 1000; });
}

TEST(Gap, MatricesOfDifferentShapesAreRefused) {
  const Matrix a = make_matrix("normal", 6, 3, 1), longer = make_matrix("normal", 7, 3, 2),
               wider = make_matrix("normal", 6, 4, 3);
  for (const Matrix* other : {&longer, &wider}) {
    const MatrixView view = a.view(), wrong = other->view();
    for (const auto& call : {std::function<void()>([&] { find_gap(view, wrong, nullptr, options_of(2)); }),
                             std::function<void()>([&] { find_gap(view, view, &wrong, options_of(2)); })})
      try {
        call();
        ADD_FAILURE() << "nothing was thrown";
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input);
      }
  }
}

/// Wants to stop from a stage on.
struct Stopper final : Observer {
  std::string from;
  std::vector<std::string> stages;
  std::atomic<bool> stop{false};

  void begin_stage(std::string_view name) override {
    stages.emplace_back(name);
    if (name == from) stop = true;
  }
  bool stop_requested() noexcept override { return stop; }
};

TEST(Gap, StopsInEveryStage) {
  const Data data("clustered", 200, 12);
  GapOptions options = options_of(8);
  options.methods = {Method::rcm};
  Stopper watcher;
  const GapResult found = gap_of(data, options, false, &watcher);
  std::vector<std::string> stages;  // one that is taken up again is listed once
  for (const std::string& stage : watcher.stages)
    if (std::find(stages.begin(), stages.end(), stage) == stages.end()) stages.push_back(stage);
  ASSERT_EQ(stages.size(), found.stages.size());
  for (std::size_t s = 0; s < stages.size(); ++s) EXPECT_EQ(stages[s], found.stages[s].name);
  for (const char* name : {"normalise", "order", "global", "random", "batches", "oracle"})
    EXPECT_NE(std::find(stages.begin(), stages.end(), name), stages.end()) << name;
  for (const std::string& stage : stages) {
    Stopper stopper;
    stopper.from = stage;
    try {
      gap_of(data, options, false, &stopper);
      ADD_FAILURE() << stage << " was not stopped";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::interrupted) << stage;
    }
    EXPECT_EQ(stopper.stages.back(), stage);
  }
}

TEST(Gap, HoldsNoMoreThanWasExpected) {
  for (const Form form : {Form::clip, Form::simclr}) {
    const Data data("clustered", kSlowBuild ? 1100 : 1500, 64);
    GapOptions options = options_of(100);
    options.loss.random_trials = 1;
    options.loss.form = form;
    options.methods = {Method::rcm};
    const std::uint64_t peak = gap_of(data, options).peak_bytes;
    EXPECT_GT(peak, 2 * data.x.values.size() * sizeof(std::int16_t));
    options.run.memory_limit = peak - 1;  // what was expected is more than what was taken
    expect_refused(ErrorKind::resource, "memory", data, options);
  }
}

}  // namespace
}  // namespace gcbs
