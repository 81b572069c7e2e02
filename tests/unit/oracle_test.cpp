// Every row with its own hardest negatives, by a full sort of what is admissible.
#include "oracle.h"

#include <gtest/gtest.h>

#include <functional>

#include "unit/loss/brute_force.h"

namespace gcbs {
namespace {

using namespace testing;

/// The mean loss of X's rows, or of Y's.
double brute_side(const Data& data, bool of_x, bool negatives, const LossOptions& options, std::size_t size) {
  const std::size_t n = data.x.rows;
  const BruteLoss brute(data, negatives, options);
  const Matrix &own = of_x ? data.x : data.y, &other = of_x ? data.y : data.x;
  const std::vector<double> pairs = all_similarities(data.x, data.y), between = all_similarities(own, other);
  const std::vector<double> views = all_similarities(own, own), extra = all_similarities(own, data.z);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Seen seen;
    const auto add_hardest = [&](const std::vector<double>& values, bool filtered) {
      std::vector<double> list;
      for (std::size_t j = 0; j < n; ++j)
        if (filtered ? admits(options.filter, pairs, n, i, j) : i != j) list.push_back(values[i * n + j]);
      std::sort(list.begin(), list.end(), std::greater<>());
      list.resize(std::min(list.size(), size - 1));
      seen.values.insert(seen.values.end(), list.begin(), list.end());
    };
    add_hardest(between, true);
    if (options.form == Form::simclr) add_hardest(views, true);
    if (of_x && negatives) {
      add_hardest(extra, false);
      seen.values.push_back(extra[i * n + i]);
    }
    sum += brute.loss(seen, i);
  }
  return sum / static_cast<double>(n);
}

void expect_oracle(const Data& data, const LossOptions& options, bool negatives, const Kernel& kernel) {
  const std::size_t n = data.x.rows;
  const LossRows rows{data.rows_x, data.rows_y, negatives ? &data.rows_z : nullptr};
  const LossModel model(data.rows_x, data.rows_y, rows.negatives, options, kernel, data.run);
  const GlobalLoss global = model.global();
  for (const std::size_t size : {std::size_t{2}, std::size_t{9}, n}) {
    SCOPED_TRACE("batches of " + std::to_string(size));
    const double x = brute_side(data, true, negatives, options, size),
                 y = brute_side(data, false, negatives, options, size);
    const double expected = ByDirection{x, y, (x + y) / 2}[options.direction];
    const double found = oracle_loss(rows, model, options, size, kernel, data.run);
    const double slack = 1e-12 * std::max(1.0, expected);
    EXPECT_NEAR(found, expected, slack);
    EXPECT_LE(found, global.loss[options.direction] + slack);
    for (const std::uint64_t seed : {1u, 2u})
      EXPECT_GE(found + slack, model.of_order(shuffled(n, seed), size, global).loss[options.direction]);
    if (size == n) {
      EXPECT_NEAR(found, global.loss[options.direction], slack);
    }
  }
}

TEST(Oracle, IsTheBruteForces) {
  for (const char* kind : {"clustered", "nearly"}) {
    if (kSlowBuild && kind != std::string("clustered")) continue;
    const Data data(kind, 40, 15, 2);
    for (const auto& [name, filter] : many_filters(40, all_similarities(data.x, data.y)))
      for (const Form form : {Form::clip, Form::simclr})
        for (const bool negatives : {false, true}) {
          if (negatives && form == Form::simclr) continue;
          for (const Direction direction : {Direction::x, Direction::y, Direction::both}) {
            if (direction == Direction::both && form == Form::clip) continue;
            SCOPED_TRACE(std::string(kind) + ", " + name + ", " + name_of(form) + ", " + name_of(direction) +
                         (negatives ? ", negatives" : ""));
            LossOptions options;
            options.filter = filter;
            options.form = form;
            options.direction = direction;
            expect_oracle(data, options, negatives, kernel_for(choose_isa()));
            if (HasFailure()) return;
          }
        }
  }
}

TEST(Oracle, IsTheSameForEveryKernelAndThreadCount) {
  LossOptions options;
  options.filter.relative_margin = 0.05;
  options.filter.groups = {random_ids(60, 20, 1)};
  double first = -1;
  for (const unsigned threads : {1u, 2u, 3u, 7u})
    for (const NamedKernel& kernel : runnable_kernels()) {
      const Data data("clustered", 60, 15, threads);
      const LossModel model(data.rows_x, data.rows_y, nullptr, options, *kernel.kernel, data.run);
      const double loss =
          oracle_loss({data.rows_x, data.rows_y, nullptr}, model, options, 8, *kernel.kernel, data.run);
      if (first < 0) first = loss;
      EXPECT_EQ(loss, first) << kernel.name << ", " << threads << " threads";
    }
}

}  // namespace
}  // namespace gcbs
