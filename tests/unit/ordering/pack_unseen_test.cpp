#include "ordering/pack_unseen.h"

#include <gtest/gtest.h>

#include <cmath>

#include "matrix/equal_rows.h"
#include "ordering/orders.h"
#include "ordering/pack.h"
#include "support/kernels.h"
#include "support/matrices.h"
#include "unit/ordering/pack_cases.h"

namespace gcbs {
namespace {

using testing::Matrix;

/// Rows as int16, and the term by its definition.
struct Term {
  Term(const Matrix& a, const Matrix& b, bool grouped = false)
      : x(a.view(), false, {}),
        y(b.view(), false, {}),
        fine(prepare_fine(x, y, grouped ? places(a) : PlaceRows{}, grouped ? places(b) : PlaceRows{}, {})),
        unseen{&fine, 1e-9} {}

  static PlaceRows places(const Matrix& rows) {
    return group_equal_rows(first_equal_rows(rows.view(), {}), {});
  }

  double naive(const std::vector<Vertex>& order, std::size_t block) const {
    double sum = 0;
    for (std::size_t p = 0; p < order.size(); ++p)
      for (std::size_t q = p / block * block; q < std::min(order.size(), p / block * block + block); ++q) {
        const std::int16_t *left = fine.x.row(fine.x.places.place(order[p])),
                           *right = fine.y.row(fine.y.places.place(order[q]));
        for (std::size_t k = 0; k < fine.x.stride; ++k) sum += static_cast<double>(left[k]) * right[k];
      }
    return unseen.weight * sum;
  }

  Rows x, y;
  FinePrepared fine;
  UnseenPairs unseen;
};

TEST(PackUnseen, GainsAreDifferencesOfTheTerm) {
  for (const std::string kind : {"rand", "normal", "clustered", "duplicates"}) {
    SCOPED_TRACE(kind);
    const std::size_t n = 47;
    const Term term(testing::make_matrix(kind, n, 21, 1), testing::make_matrix(kind, n, 21, 2),
                    kind == "duplicates");
    Random random(3);
    for (const std::size_t block : {4, 10, 47}) {
      std::vector<Vertex> order = order_random(n, 4).old_of_new;
      BlockSums sums(term.unseen, order, block, {});
      const double scale = std::max(1.0, std::abs(term.naive(order, block)));
      EXPECT_NEAR(sums.objective(), term.naive(order, block), 1e-6 * scale);
      for (int trial = 0; trial < 30; ++trial) {
        const std::size_t p = random.below(n), q = random.below(n);
        if (p / block == q / block) continue;
        const double before = term.naive(order, block);
        const double gain = sums.gain_of_swap(order[p], p / block, order[q], q / block);
        sums.swap(order[p], p / block, order[q], q / block);
        std::swap(order[p], order[q]);
        ASSERT_NEAR(gain, term.naive(order, block) - before, 1e-5 * scale);
      }
      EXPECT_NEAR(sums.objective(), term.naive(order, block), 1e-6 * scale);
    }
  }
}

TEST(PackUnseen, StatesCountItInSwaps) {
  testing::PackCase data(testing::draw_random(60, 8, 1), 2);
  const Term term(testing::make_matrix("normal", 60, 12, 3), testing::make_matrix("normal", 60, 12, 4));
  data.model.unseen = term.unseen;
  Random random(5);
  PackState state(data.model, 6, order_random(60, 6).old_of_new, {});
  SwapTrial swap(state);
  const auto naive = [&] {
    return testing::naive_objective(data.model, state.order(), 6) + term.naive(state.order(), 6);
  };
  EXPECT_NEAR(state.objective(), naive(), 1e-6);
  EXPECT_NEAR(state.worth_of_edges(), testing::naive_objective(data.model, state.order(), 6), 1e-9);
  for (int trial = 0; trial < 50; ++trial) {
    const auto u = static_cast<Vertex>(random.below(60)), v = static_cast<Vertex>(random.below(60));
    if (state.seat(u).block == state.seat(v).block) continue;
    const double before = naive(), gain = swap.gain(u, v);
    state.swap(swap);
    ASSERT_NEAR(gain, naive() - before, 1e-5);
  }
}

/// The in-batch loss of both directions by the definition, all pairs of a block.
double loss_of(const std::vector<double>& similarities, const std::vector<Vertex>& order, std::size_t block,
               double temperature) {
  const std::size_t n = order.size();
  double sum = 0;
  for (std::size_t p = 0; p < n; ++p) {
    double x = 0, y = 0;
    for (std::size_t q = p / block * block; q < std::min(n, p / block * block + block); ++q) {
      x += std::exp(similarities[order[p] * n + order[q]] / temperature);
      y += std::exp(similarities[order[q] * n + order[p]] / temperature);
    }
    sum += std::log(x) + std::log(y) - 2 * similarities[order[p] * n + order[p]] / temperature;
  }
  return sum / static_cast<double>(2 * n);
}

TEST(PackUnseen, HelpsWhereTheGraphHoldsLittle) {
  constexpr std::size_t kRows = testing::kSlowBuild ? 300 : 1000, kBlock = 20;
  const Matrix a = testing::make_matrix("rand", kRows, 48, 1), b = testing::make_matrix("rand", kRows, 48, 2);
  const Term term(a, b);
  const std::vector<double> all = testing::all_similarities(a, b);
  const double threshold = testing::quantile_of(all, 1 - 8.0 / kRows);
  const Graph graph =
      build_graph(testing::edges_of(kRows, testing::edges_above(all, kRows, kRows, threshold, false)), {});
  const auto packed = [&](const FinePrepared* rows) {
    PackValues values;
    values.similarities = Array<float>(graph.out.count());
    for (std::size_t i = 0; i < kRows; ++i)
      for (EdgeIndex e = graph.out.offsets[i]; e < graph.out.offsets[i + 1]; ++e)
        values.similarities[e] = static_cast<float>(all[i * kRows + graph.out.columns[e]]);
    values.positives = Array<double>(kRows);
    for (std::size_t i = 0; i < kRows; ++i) values.positives[i] = all[i * kRows + i];
    values.sample = Array<double>(1000);
    for (std::size_t s = 0; s < 1000; ++s) values.sample[s] = all[(s * 7919 + 1) % all.size()];
    values.batch_size = kBlock;
    values.rows = rows;
    const PackModel model = make_pack_model(graph, std::move(values), Objective::loss, {});
    EXPECT_EQ(model.unseen.rows, rows);
    std::vector<Vertex> order;
    for (const unsigned threads : {1u, 3u}) {
      RunContext run;
      run.threads = threads;
      std::vector<Vertex> found = order_pack(model, {}, kBlock, nullptr, 0, run).order.old_of_new;
      EXPECT_TRUE(order.empty() || found == order);
      order = std::move(found);
    }
    return loss_of(all, order, kBlock, 0.05);
  };
  const double random = loss_of(all, order_random(kRows, 9).old_of_new, kBlock, 0.05);
  const double edges_only = packed(nullptr) - random, with_the_rest = packed(&term.fine) - random;
  EXPECT_GT(edges_only, 0);
  EXPECT_GT(with_the_rest, 1.1 * edges_only);
}

}  // namespace
}  // namespace gcbs
