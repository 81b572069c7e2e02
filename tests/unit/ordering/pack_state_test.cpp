#include "ordering/pack_state.h"

#include <gtest/gtest.h>

#include "ordering/orders.h"
#include "unit/ordering/pack_cases.h"

namespace gcbs {
namespace {

using testing::naive_objective;
using testing::PackCase;

TEST(PackState, GainsOfSwapsAreDifferencesOfTheObjective) {
  std::size_t swaps = 0;
  for (const testing::Drawing& drawing : testing::draw_many()) {
    if (drawing.vertices < 6) continue;
    const PackCase data(drawing, 11);
    Random random(12);
    for (const std::size_t block : {2, 3, 5}) {
      const std::size_t n = drawing.vertices;
      PackState state(data.model, block, order_random(n, 13).old_of_new, {});
      SwapTrial swap(state);
      EXPECT_NEAR(state.objective(), naive_objective(data.model, state.order(), block), 1e-9) << drawing.name;
      for (int trial = 0; trial < 40; ++trial) {
        const auto u = static_cast<Vertex>(random.below(n)), v = static_cast<Vertex>(random.below(n));
        if (state.seat(u).block == state.seat(v).block) continue;
        const double before = naive_objective(data.model, state.order(), block);
        const double gain = swap.gain(u, v);
        state.swap(swap);
        const double after = naive_objective(data.model, state.order(), block);
        ASSERT_NEAR(gain, after - before, 1e-6 * std::max(1.0, std::abs(before))) << drawing.name;
        ++swaps;
      }
      EXPECT_TRUE(testing::is_permutation_of(state.order(), n));
      EXPECT_NEAR(state.objective(), naive_objective(data.model, state.order(), block),
                  1e-6 * std::max(1.0, state.objective()));
    }
  }
  EXPECT_GT(swaps, 1000u);
}

TEST(PackState, SeatsKnowTheSharesAboutWell) {
  const PackCase data(testing::draw_random(50, 8, 1), 2);
  const PackState state(data.model, 5, order_random(50, 3).old_of_new, {});
  for (Vertex v = 0; v < 50; ++v) {
    EXPECT_NEAR(static_cast<double>(state.seat(v).share_x()) * state.sums(v).x, 1, 0.004);
    EXPECT_NEAR(static_cast<double>(state.seat(v).share_y()) * state.sums(v).y, 1, 0.004);
  }
}

TEST(PackState, MembersStandAtTheirSeats) {
  const PackCase data(testing::draw_path(11), 1);
  PackState state(data.model, 4, order_random(11, 2).old_of_new, {});
  ASSERT_EQ(state.blocks(), 3u);
  EXPECT_EQ(state.members(2).size(), 3u);
  const Vertex u = state.members(0)[1], v = state.members(2)[2];
  SwapTrial swap(state);
  swap.gain(u, v);
  state.swap(swap);
  EXPECT_EQ(state.members(0)[1], v);
  EXPECT_EQ(state.members(2)[2], u);
  for (Vertex block = 0; block < 3; ++block)
    for (const Vertex w : state.members(block)) {
      EXPECT_EQ(state.seat(w).block, block);
      EXPECT_EQ(state.members(block)[state.place(w)], w);
    }
}

}  // namespace
}  // namespace gcbs
