#include "ordering/pack_visit.h"

#include <gtest/gtest.h>

#include "ordering/orders.h"
#include "ordering/pack_steps.h"
#include "unit/ordering/pack_cases.h"

namespace gcbs {
namespace {

using testing::naive_objective;
using testing::PackCase;

void settle(Scene& scene) {
  for (Vertex v = 0; v < scene.state.vertices(); ++v) scene.stay[v] = scene.measure_stay(v);
  for (Vertex block = 0; block < scene.state.blocks(); ++block) scene.find_weakest(block);
}

/// What a block loses by a member, v itself included, by the definition.
double loss_by_leaving(const PackState& state, Vertex v) {
  const PackModel& model = state.model();
  const double base = static_cast<double>(model.base[v]);
  double loss = std::log(state.sums(v).x / base) + std::log(state.sums(v).y / base);
  const auto add = [&](const Edges& edges, const Array<float>& weights, bool out) {
    for (EdgeIndex e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e) {
      const Vertex j = edges.columns[e];
      if (j == v || state.seat(j).block != state.seat(v).block) continue;
      const double sum = out ? state.sums(j).y : state.sums(j).x;
      loss -= std::log(1 - static_cast<double>(weights[e]) / sum);
    }
  };
  add(model.graph->out, model.out, true);
  add(model.graph->in, model.in, false);
  return loss;
}

TEST(PackVisit, StaysAreAboutWhatLeavingCosts) {
  for (const Objective objective : {Objective::loss, Objective::similarity}) {
    const PackCase data(testing::draw_random(200, 20, 3), 3, objective);
    const PackState state(data.model, 20, order_random(200, 3).old_of_new, {});
    Scene scene(state, nullptr, {});
    double estimated = 0, exact = 0;
    for (Vertex v = 0; v < 200; ++v) {
      estimated += static_cast<double>(scene.measure_stay(v));
      exact += loss_by_leaving(state, v);
    }
    EXPECT_NEAR(estimated / exact, 1, 0.15);
  }
}

TEST(PackVisit, WhatIsProposedGains) {
  std::size_t proposals = 0, vertices = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const PackCase data(testing::draw_random(120, 12, seed), seed);
    const PackState state(data.model, 8, order_random(120, seed).old_of_new, {});
    Scene scene(state, nullptr, {});
    settle(scene);
    scene.heat = seed % 2 == 0 ? 0 : 0.5;
    scene.seed = seed;
    Visitor visitor(scene, {});
    const double before = naive_objective(data.model, state.order(), 8);
    for (Vertex block = 0; block < state.blocks(); ++block) {
      const Visit visit = visitor.visit(block);
      EXPECT_EQ(visit.looked.size(), state.members(block).size());
      for (const Proposal& proposal : visit.proposals) {
        const Vertex u = proposal.vertex, v = proposal.partners[0];
        EXPECT_EQ(state.seat(u).block, block);
        ASSERT_NE(state.seat(v).block, block);
        std::vector<Vertex> swapped = state.order();
        std::iter_swap(std::find(swapped.begin(), swapped.end(), u),
                       std::find(swapped.begin(), swapped.end(), v));
        EXPECT_GT(naive_objective(data.model, swapped, 8) - before, proposal.least - 1e-9);
        EXPECT_EQ(proposal.least, scene.least_gain(u));
      }
      proposals += visit.proposals.size();
      vertices += state.members(block).size();
    }
  }
  // A random order leaves much to be gained.
  EXPECT_GT(proposals, vertices / 3);
}

TEST(PackVisit, SleepersAreNotLookedAtAndWorkersLeaveNoTraces) {
  const PackCase data(testing::draw_random(90, 10, 4), 4);
  const PackState state(data.model, 9, order_random(90, 4).old_of_new, {});
  Scene scene(state, nullptr, {});
  settle(scene);
  Visitor used(scene, {});
  for (Vertex block = 0; block < 10; ++block) used.visit(block);
  for (Vertex v = 0; v < 90; v += 2) scene.awake[v] = 0;
  for (Vertex block = 0; block < 10; ++block) {
    const Visit again = used.visit(block), fresh = Visitor(scene, {}).visit(block);
    ASSERT_EQ(again.looked.size(), fresh.looked.size());
    for (std::size_t i = 0; i < again.looked.size(); ++i) {
      EXPECT_EQ(again.looked[i].vertex % 2, 1u);
      EXPECT_EQ(again.looked[i].stay, fresh.looked[i].stay);
      EXPECT_EQ(again.looked[i].wishes, fresh.looked[i].wishes);
    }
    ASSERT_EQ(again.proposals.size(), fresh.proposals.size());
    for (std::size_t i = 0; i < again.proposals.size(); ++i)
      EXPECT_EQ(again.proposals[i].partners, fresh.proposals[i].partners);
  }
}

TEST(PackVisit, HeatAcceptsLossesAsOftenAsItShould) {
  const PackCase data(testing::draw_path(20000), 4);
  const PackState state(data.model, 10, order_random(20000, 4).old_of_new, {});
  Scene scene(state, nullptr, {});
  scene.heat = 0.3;
  std::size_t deep = 0;
  for (Vertex v = 0; v < 20000; ++v) {
    EXPECT_LE(scene.least_gain(v), 0);
    deep += scene.least_gain(v) < -0.3;
  }
  EXPECT_NEAR(static_cast<double>(deep) / 20000, std::exp(-1), 0.02);
  scene.heat = 0;
  EXPECT_GT(scene.least_gain(0), 0);
}

}  // namespace
}  // namespace gcbs
