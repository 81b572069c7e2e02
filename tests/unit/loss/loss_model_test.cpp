// Losses of a data set against the brute force: every form, direction and filter, tables and int16 products,
// every kernel, stand-in and number of threads.
#include "loss/loss_model.h"

#include <gtest/gtest.h>

#include <bit>

#include "ordering/orders.h"
#include "unit/loss/brute_force.h"

namespace gcbs {
namespace {

using namespace testing;

struct Case {
  std::string name;
  LossOptions options;
  bool negatives = false;
};

std::vector<Case> many_cases(const Data& data) {
  std::vector<Case> cases;
  const auto add = [&](const std::string& name, auto&& set) {
    set(cases.emplace_back(Case{name, {}, false}));
  };
  for (const double temperature : {0.001, 0.01, 0.0125, 0.05, 1.0, 10.0})
    add("temperature " + std::to_string(temperature), [&](Case& c) { c.options.temperature = temperature; });
  for (const Direction direction : {Direction::x, Direction::y})
    add(std::string("direction ") + name_of(direction), [&](Case& c) { c.options.direction = direction; });
  add("negatives", [](Case& c) { c.negatives = true; });
  add("simclr", [](Case& c) { c.options.form = Form::simclr; });
  const auto filters = many_filters(data.x.rows, all_similarities(data.x, data.y));
  for (const auto& [name, filter] : filters) {
    add(name, [&](Case& c) { c.options.filter = filter; });
    if (name != "all" && name != "one group") continue;
    add(name + ", negatives", [&](Case& c) { c.options.filter = filter, c.negatives = true; });
    add(name + ", simclr", [&](Case& c) { c.options.filter = filter, c.options.form = Form::simclr; });
  }
  return cases;
}

LossModel model_of(const Data& data, const Case& c, const Kernel& kernel, std::size_t largest_table) {
  return {data.rows_x, data.rows_y,  c.negatives ? &data.rows_z : nullptr, c.options, kernel,
          data.run,    largest_table};
}

/// How far a loss may be: with a table next to nothing, else the model's own bound, and a share that is ten
/// times the one promised for data too large for a table, where errors of many rows cancel.
double allowed(double loss, bool table, double error_bound, double temperature) {
  if (table) return 1e-12 * std::max({1.0, loss, 0.01 / temperature});
  return temperature >= 0.01 ? std::min(error_bound, 1e-3 * std::max(1e-3, loss)) : error_bound;
}

void expect_near(const ByDirection& a, const ByDirection& b, double tolerance) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.both, b.both, tolerance);
}

void expect_loss(const ByDirection& found, const ByDirection& exact, bool table, double error_bound,
                 double temperature) {
  for (const Direction d : {Direction::x, Direction::y, Direction::both})
    EXPECT_NEAR(found[d], exact[d], allowed(exact[d], table, error_bound, temperature)) << name_of(d);
}

void expect_case(const Data& data, const Case& c, bool table, const Kernel& kernel) {
  const std::size_t n = data.x.rows;
  const double tau = c.options.temperature;
  const LossModel model = model_of(data, c, kernel, table ? n : 0);
  const BruteLoss brute(data, c.negatives, c.options);
  const GlobalLoss global = model.global();
  const std::vector<Vertex> rows = in_order(n), order = shuffled(n, 5);
  const double bound = global.error_bound;
  EXPECT_EQ(bound == 0, table);

  const OrderLoss whole = brute.of_order(rows, n);
  expect_loss(global.loss, whole.loss, table, bound, tau);
  expect_near(global.probability, whole.probability, table ? 1e-11 : 1.01 * bound);
  const BruteLoss::Batch& all = brute.all_rows();
  const double slack = table ? 1e-12 / tau : bound;
  for (std::size_t i = 0; i < n; ++i)
    for (const bool x : {true, false}) {
      const Anchors& anchors = x ? global.x : global.y;
      const Seen& seen = x ? all.x[i] : all.y[i];
      ASSERT_EQ(anchors.count[i], static_cast<double>(seen.values.size() + 1));
      ASSERT_NEAR(anchors.most[i], std::max(brute.positive(i), seen.most()), slack * tau);
      if (seen.values.empty())
        ASSERT_EQ(anchors.log_sum[i], -kInfinity);
      else
        ASSERT_NEAR(anchors.log_sum[i], seen.log_sum(tau), slack + 1e-12);
    }

  for (const std::size_t size : {std::size_t{2}, std::size_t{7}, n / 2 + 1, n}) {
    SCOPED_TRACE("batches of " + std::to_string(size));
    const OrderLoss found = model.of_order(order, size, global), exact = brute.of_order(order, size);
    expect_loss(found.loss, exact.loss, table, bound, tau);
    expect_near(found.probability, exact.probability, table ? 1e-11 : 1.01 * bound);
    const double far = table ? 1e-11 * std::max(1.0, 1 / tau) : 2 * bound;
    for (double Bounds::*b : {&Bounds::theorem1, &Bounds::theorem2, &Bounds::lemma2, &Bounds::lemma3})
      EXPECT_NEAR(found.bounds.*b, exact.bounds.*b, far);
    EXPECT_NEAR(found.qbap, exact.qbap, table ? 1e-15 : bound * tau);
    EXPECT_NEAR(found.qap, exact.qap, (table ? 1e-14 : bound * tau) * 2 * static_cast<double>(n * size));
    ASSERT_EQ(found.batches.size(), (n + size - 1) / size);
    for (std::size_t b = 0; b < found.batches.size(); ++b) {
      EXPECT_NEAR(found.batches[b].loss, exact.batches[b].loss,
                  table ? allowed(exact.batches[b].loss, true, 0, tau) : bound);
      EXPECT_NEAR(found.batches[b].hardness, exact.batches[b].hardness, table ? 1e-11 : 1.01 * bound);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

class LossOfKernel : public ::testing::TestWithParam<NamedKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, LossOfKernel, ::testing::ValuesIn(runnable_kernels()),
                         [](const auto& kernel) { return kernel.param.name; });

TEST(LossModel, OfATableIsTheBruteForce) {
  for (const std::string& kind : kinds_of_matrices()) {
    if (kSlowBuild && kind != "clustered") continue;
    const Data data(kind, 50, 20, 2);
    for (const Case& c : many_cases(data)) {
      SCOPED_TRACE(kind + ", " + c.name);
      expect_case(data, c, true, kScalarKernel);
      if (HasFailure()) return;
    }
  }
}

TEST(LossModel, OfInt16RowsIsNearTheBruteForce) {
  for (const std::string& kind : kinds_of_matrices()) {
    if (kSlowBuild && kind != "clustered") continue;
    const Data data(kind, 67, 33, 2);
    for (const Case& c : many_cases(data)) {
      SCOPED_TRACE(kind + ", " + c.name);
      expect_case(data, c, false, kernel_for(choose_isa()));
      if (HasFailure()) return;
    }
  }
}

TEST(LossModel, OfSeveralBandsIsNearTheBruteForce) {
  const Data data("clustered", kSlowBuild ? 780 : 1100, 8, 2);
  const auto filters = many_filters(data.x.rows, all_similarities(data.x, data.y));
  Case c{"plain", {}, true};
  c.options.filter.groups = filters[2].second.groups;
  expect_case(data, c, false, kernel_for(choose_isa()));
  {
    const LossModel model = model_of(data, c, kernel_for(choose_isa()), 0);
    const GlobalLoss global = model.global();
    const BruteLoss brute(data, true, c.options);
    const auto promised = [](double loss) { return 1e-4 * std::max(1e-3, loss); };
    const OrderLoss whole = brute.of_order(in_order(data.x.rows), data.x.rows);
    EXPECT_NEAR(global.loss.both, whole.loss.both, promised(whole.loss.both));
    const OrderLoss batches = brute.of_order(in_order(data.x.rows), 32);
    EXPECT_NEAR(model.of_order(in_order(data.x.rows), 32, global).loss.both, batches.loss.both,
                promised(batches.loss.both));
  }
  c.options.temperature = 0.01;  // the slow way
  c.options.direction = Direction::x;
  const LossModel model = model_of(data, c, kernel_for(choose_isa()), 0);
  const GlobalLoss global = model.global();
  expect_loss(global.loss, BruteLoss(data, true, c.options).of_order(in_order(data.x.rows), data.x.rows).loss,
              false, global.error_bound, 0.01);
}

TEST(LossModel, OfRandomOrdersIsTheirMean) {
  const Data data("clustered", 61, 12, 2);
  for (const Case& c : many_cases(data))
    for (const std::size_t largest_table : {61u, 0u}) {
      SCOPED_TRACE(c.name + (largest_table == 0 ? ", dense" : ", table"));
      Case mine = c;
      mine.options.random_trials = 4;
      const LossModel model = model_of(data, mine, kernel_for(choose_isa()), largest_table);
      const BruteLoss brute(data, c.negatives, c.options);
      for (const std::size_t size : {2u, 12u, 61u}) {
        Random seeds(99);
        std::vector<double> losses;
        double mean = 0, probability = 0, square = 0;
        for (int trial = 0; trial < 4; ++trial) {
          const OrderLoss loss = brute.of_order(order_random(61, seeds.next()).old_of_new, size);
          losses.push_back(loss.loss[c.options.direction]);
          mean += losses.back() / 4;
          probability += loss.probability[c.options.direction] / 4;
        }
        for (const double loss : losses) square += (loss - mean) * (loss - mean) / 3;
        const TrialLoss found = model.of_random(size, 99);
        const double error =
            allowed(mean, largest_table != 0, model.global().error_bound, c.options.temperature);
        ASSERT_NEAR(found.mean, mean, error);
        ASSERT_NEAR(found.deviation, std::sqrt(square), 2 * error);
        ASSERT_NEAR(found.probability, probability,
                    largest_table != 0 ? 1e-11 : 1.01 * model.global().error_bound);
      }
    }
}

TEST(LossModel, OneTrialHasNoDeviation) {
  const Data data("normal", 20, 6);
  Case c;
  c.options.random_trials = 1;
  EXPECT_EQ(model_of(data, c, kScalarKernel, 20).of_random(5, 1).deviation, 0);
}

/// Every number of a model, as bits.
std::vector<std::uint64_t> bits_of(const Data& data, const Case& c, const Kernel& kernel) {
  const LossModel model = model_of(data, c, kernel, 0);
  const GlobalLoss global = model.global();
  const OrderLoss order = model.of_order(shuffled(data.x.rows, 2), 45, global);
  const TrialLoss random = model.of_random(100, 3);
  std::vector<double> numbers{random.mean,
                              random.deviation,
                              random.probability,
                              order.bounds.theorem1,
                              order.bounds.theorem2,
                              order.bounds.lemma2,
                              order.bounds.lemma3,
                              order.qbap,
                              order.qap,
                              global.error_bound};
  for (const ByDirection& loss : {global.loss, global.probability, order.loss, order.probability})
    numbers.insert(numbers.end(), {loss.x, loss.y, loss.both});
  for (const Anchors* anchors : {&global.x, &global.y})
    for (const Array<double>* list : {&anchors->log_sum, &anchors->most, &anchors->count})
      numbers.insert(numbers.end(), list->begin(), list->end());
  for (const BatchLoss& batch : order.batches) numbers.insert(numbers.end(), {batch.loss, batch.hardness});
  std::vector<std::uint64_t> bits;
  for (const double number : numbers) bits.push_back(std::bit_cast<std::uint64_t>(number));
  return bits;
}

TEST_P(LossOfKernel, HasTheSameBitsForEveryKernelAndThreadCount) {
  constexpr std::size_t kRows = 780;  // two bands
  for (const double temperature : {0.05, 0.01}) {
    Case c{"", {}, true};
    c.options.temperature = temperature;
    c.options.random_trials = 3;
    c.options.filter.groups = {random_ids(kRows, 100, 1)};
    const Data data("clustered", kRows, 10, 1);
    const std::vector<std::uint64_t> expected = bits_of(data, c, kScalarKernel);
    for (const unsigned threads : {1u, 2u, 3u, 7u}) {
      if (threads > 1 && temperature < 0.05 && GetParam().kernel != &kScalarKernel) continue;
      if (kSlowBuild && threads != 3) continue;
      const Data same("clustered", kRows, 10, threads);
      ASSERT_EQ(bits_of(same, c, *GetParam().kernel), expected) << threads << " threads";
    }
  }
}

TEST(LossModel, GapAndBoundsHoldOnManyMatrices) {
  const std::vector<std::string> kinds = kinds_of_matrices();
  Random random(11);
  const int trials = kSlowBuild ? 60 : 400;
  for (int trial = 0; trial < trials; ++trial) {
    const std::size_t n = 2 + random.below(40), cols = 1 + random.below(20), size = 2 + random.below(n - 1);
    const std::string& kind = kinds[random.below(kinds.size())];
    const Data data(kind, n, cols, 1, static_cast<std::uint64_t>(trial) + 10);
    Case c{kind, {}, random.below(3) == 0};
    c.options.temperature = std::exp(static_cast<double>(random.below(92)) / 10 - 6.9);
    c.options.direction = static_cast<Direction>(random.below(3));
    if (!c.negatives && random.below(3) == 0) c.options.form = Form::simclr;
    const auto filters = many_filters(n, all_similarities(data.x, data.y));
    if (random.below(2) == 0) c.options.filter = filters[random.below(filters.size())].second;
    SCOPED_TRACE(kind + ", " + std::to_string(n) + " x " + std::to_string(cols) + ", batches of " +
                 std::to_string(size) + ", temperature " + std::to_string(c.options.temperature));
    const std::size_t largest_table = random.below(2) == 0 ? 1024 : 0;
    const LossModel model = model_of(data, c, kernel_for(choose_isa()), largest_table);
    const GlobalLoss global = model.global();
    const OrderLoss order = model.of_order(shuffled(n, random.next()), size, global);
    const double error = 2 * global.error_bound + 1e-12 * std::max(1.0, 1 / c.options.temperature);
    for (const Direction d : {Direction::x, Direction::y, Direction::both})
      ASSERT_LE(order.loss[d], global.loss[d] + error);
    const double train = order.loss[c.options.direction], gap = global.loss[c.options.direction] - train;
    ASSERT_LE(gap, order.bounds.theorem1 + error);
    ASSERT_LE(gap, order.bounds.theorem2 + error);
    ASSERT_LE(order.bounds.lemma2, train + error);
    ASSERT_LE(order.bounds.lemma3, train + error);
    ASSERT_GE(order.bounds.theorem2, -error);
  }
}

TEST(LossModel, OfPairsWithoutNegativesIsZero) {
  const Data data("normal", 12, 5);
  Case c;
  c.options.filter.groups = {std::vector<std::int64_t>(12, 4)};
  for (const std::size_t largest_table : {12u, 0u}) {
    const LossModel model = model_of(data, c, kScalarKernel, largest_table);
    const GlobalLoss global = model.global();
    const OrderLoss order = model.of_order(in_order(12), 5, global);
    const TrialLoss random = model.of_random(5, 1);
    for (const double loss : {global.loss.both, order.loss.both, random.mean, random.deviation,
                              order.bounds.theorem1, order.bounds.lemma2, order.batches[2].hardness})
      EXPECT_EQ(loss, 0);
    for (const double probability : {global.probability.both, order.probability.both})
      EXPECT_NEAR(probability, 1, 1e-15);
    EXPECT_NEAR(random.probability, 1, 1e-14);
  }
}

}  // namespace
}  // namespace gcbs
