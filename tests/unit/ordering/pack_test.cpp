#include "ordering/pack.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "ordering/orders.h"
#include "ordering/pack_steps.h"
#include "support/kernels.h"
#include "unit/ordering/pack_cases.h"

namespace gcbs {
namespace {

using testing::naive_objective;
using testing::PackCase;
using testing::Remainders;

PackOptions with(Effort effort) {
  PackOptions options;
  options.effort = effort;
  return options;
}

TEST(Pack, NamesItsChoices) {
  for (const Objective objective : {Objective::edges, Objective::similarity, Objective::loss})
    EXPECT_EQ(objective_from(name_of(objective)), objective);
  for (const Effort effort : {Effort::fast, Effort::normal, Effort::best})
    EXPECT_EQ(effort_from(name_of(effort)), effort);
  EXPECT_STREQ(name_of(Effort::normal), "default");
  EXPECT_FALSE(objective_from("Loss") || effort_from("normal"));
}

TEST(Pack, GivesAPermutationThatIsTheSameForEveryThreadCount) {
  for (const testing::Drawing& drawing : testing::draw_many()) {
    const std::size_t n = drawing.vertices;
    if (n == 0) continue;
    const PackCase data(drawing, 3);
    for (const Effort effort : {Effort::fast, Effort::normal})
      for (const std::size_t block : {2, 7}) {
        const PackedOrder packed = order_pack(data.model, with(effort), block, nullptr, 5, {});
        EXPECT_TRUE(testing::is_permutation_of(packed.order.old_of_new, n)) << drawing.name;
        EXPECT_NEAR(packed.objective, naive_objective(data.model, packed.order.old_of_new, block),
                    1e-6 * std::max(1.0, packed.objective))
            << drawing.name;
        for (const unsigned threads : {2u, 3u, 7u}) {
          RunContext run;
          run.threads = threads;
          EXPECT_EQ(order_pack(data.model, with(effort), block, nullptr, 5, run).order.old_of_new,
                    packed.order.old_of_new)
              << drawing.name;
        }
      }
  }
}

TEST(Pack, FindsCliques) {
  const std::size_t sizes[] = {8, 8, 8, 8, 8, 8};
  testing::Drawing drawing = testing::draw_cliques({std::begin(sizes), std::end(sizes)});
  // Under other names, so that the natural order tells nothing.
  const std::vector<Vertex> name = order_random(48, 9).old_of_new;
  for (auto& [row, column] : drawing.pairs) row = name[row], column = name[column];
  const PackCase data(drawing, 4);
  const std::vector<Vertex> order = order_pack(data.model, {}, 8, nullptr, 0, {}).order.old_of_new;
  std::vector<std::size_t> clique_of(48);
  for (Vertex v = 0; v < 48; ++v) clique_of[name[v]] = v / 8;
  for (std::size_t p = 0; p < 48; ++p) EXPECT_EQ(clique_of[order[p]], clique_of[order[p / 8 * 8]]) << p;
}

TEST(Pack, SwapsFromAnOrderNeverLoseByIt) {
  for (const testing::Drawing& drawing : testing::draw_many()) {
    const std::size_t n = drawing.vertices;
    if (n < 4) continue;
    const PackCase data(drawing, 6);
    for (const Effort effort : {Effort::fast, Effort::normal, Effort::best}) {
      if (effort == Effort::best && n > (testing::kSlowBuild ? 12 : 100)) continue;
      PackOptions options = with(effort);
      const std::vector<Vertex> start = order_random(n, 8).old_of_new;
      options.from.assign(start.begin(), start.end());
      const PackedOrder packed = order_pack(data.model, options, 4, nullptr, 0, {});
      EXPECT_GE(packed.objective, naive_objective(data.model, start, 4) - 1e-9) << drawing.name;
      EXPECT_TRUE(testing::is_permutation_of(packed.order.old_of_new, n));
    }
  }
}

TEST(Pack, MoreEffortGivesMore) {
  const PackCase data(testing::draw_random(testing::kSlowBuild ? 150 : 600, 12, 2), 7);
  double before = naive_objective(data.model, order_rcm(data.graph, {}, {}).order.old_of_new, 8);
  for (const Effort effort : {Effort::fast, Effort::normal, Effort::best}) {
    const double reached = order_pack(data.model, with(effort), 8, nullptr, 0, {}).objective;
    EXPECT_GT(reached, before) << name_of(effort);
    before = reached;
  }
}

TEST(Pack, TakesNoMoreMemoryThanItSays) {
  for (const unsigned threads : {1u, 2u}) {
    MemoryMeter meter;
    const RunContext run{threads, nullptr, &meter};
    const PackCase data(testing::draw_random(3000, 60, 2), 3);
    order_pack(data.model, {}, 30, nullptr, 0, run);
    // The model's weights are not counted here: 8 bytes an edge.
    const auto edges = static_cast<double>(data.graph.out.count());
    EXPECT_LE(static_cast<double>(meter.peak_bytes()) + 8 * edges, pack_bytes(3000, edges, 30, threads));
    EXPECT_EQ(meter.held_bytes(), 0u);
  }
}

std::size_t count_broken(const std::vector<Vertex>& order, std::size_t block, const BlockRules& rules) {
  std::size_t broken = 0;
  for (std::size_t p = 0; p < order.size(); ++p)
    broken += !rules.may_join(order[p], std::span(order).subspan(p / block * block, block), order[p]);
  return broken;
}

TEST(Pack, KeepsTheRulesWhereItCan) {
  const Remainders rules(40);
  std::size_t broken = 0, without = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const PackCase data(testing::draw_random(120, 10, seed), seed);
    for (const Effort effort : {Effort::fast, Effort::normal}) {
      broken +=
          count_broken(order_pack(data.model, with(effort), 6, &rules, seed, {}).order.old_of_new, 6, rules);
      without +=
          count_broken(order_pack(data.model, with(effort), 6, nullptr, seed, {}).order.old_of_new, 6, rules);
    }
  }
  // The last block takes who is left: a pair of them in a few of the 40 orders.
  EXPECT_LE(broken, 12u);
  EXPECT_GE(without, 200u);
}

/// The best objective over all ways to fill the blocks: vertices in ascending order choose a block.
class Exhaustive {
 public:
  Exhaustive(const PackModel& model, std::size_t block) : model_(model), block_(block) {
    const std::size_t n = model.vertices();
    for (std::size_t first = 0; first < n; first += block) free_.push_back(std::min(block, n - first));
    members_.resize(free_.size());
    place(0);
  }
  double best = -1;

 private:
  void place(Vertex v) {
    if (v == model_.vertices()) {
      std::vector<Vertex> order;
      for (const auto& members : members_) order.insert(order.end(), members.begin(), members.end());
      best = std::max(best, naive_objective(model_, order, block_));
      return;
    }
    std::map<std::size_t, bool> tried;  // empty blocks of one size are alike
    for (std::size_t b = 0; b < free_.size(); ++b) {
      if (free_[b] == 0 || (members_[b].empty() && std::exchange(tried[free_[b]], true))) continue;
      --free_[b];
      members_[b].push_back(v);
      place(v + 1);
      members_[b].pop_back();
      ++free_[b];
    }
  }

  const PackModel& model_;
  std::size_t block_;
  std::vector<std::size_t> free_;
  std::vector<std::vector<Vertex>> members_;
};

TEST(Pack, BestFindsTheOptimumOfTinyCases) {
  constexpr int kCases = testing::kSlowBuild ? 20 : 1000;
  int optimal = 0;
  for (int c = 0; c < kCases; ++c) {
    const auto seed = static_cast<std::uint64_t>(c);
    Random random(seed);
    const std::size_t n = 5 + random.below(6), block = 2 + random.below(3);
    const Objective objective = c % 3 == 0   ? Objective::loss
                                : c % 3 == 1 ? Objective::similarity
                                             : Objective::edges;
    const PackCase data(testing::draw_random(n, 1 + static_cast<double>(random.below(6)), seed), seed,
                        objective, block);
    const double best = Exhaustive(data.model, block).best;
    const PackedOrder packed = order_pack(data.model, with(Effort::best), block, nullptr, seed, {});
    ASSERT_LE(packed.objective, best + 1e-9);
    optimal += packed.objective > best - 1e-9 * std::max(1.0, best);
  }
  EXPECT_GE(optimal, kCases * 95 / 100) << "of " << kCases;
}

}  // namespace
}  // namespace gcbs
