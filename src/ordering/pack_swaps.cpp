// Local search: vertices of two blocks change places wherever that gains.
//
// Requires: a state. Ensures: without heat the objective never falls; the same swaps for every number of
// threads. Cost: a pass goes through every list about twice, in parallel; swaps take both lists of their
// vertices. Vertices about which nothing has changed, and which had no wish, are not looked at again.
//
// Blocks are visited in rounds. Visits of a round only read, so they run side by side; then their proposals
// are taken one by one, in order. What was evaluated exactly during the visit still holds as long as neither
// block has changed; otherwise it is evaluated anew. So what is done is always exact, and estimates that are
// off cost a proposal, never a wrong swap.
#include <algorithm>
#include <memory>

#include "base/random.h"
#include "ordering/pack_steps.h"
#include "ordering/pack_visit.h"

namespace gcbs {
namespace {

constexpr std::size_t kRoundVertices = 4096;

class Swaps {
 public:
  Swaps(PackState& state, const SwapOptions& options, const BlockRules* rules, const RunContext& run)
      : state_(state),
        options_(options),
        run_(run),
        scene_(state, rules, run),
        trial_(state),
        visitors_(std::max(run.threads, 1u)),
        changed_in_(state.blocks(), 0) {
    parallel_for(run, state.blocks(), 1, [&](std::size_t block, std::size_t, unsigned) {
      for (const Vertex v : state.members(block)) scene_.stay[v] = scene_.measure_stay(v);
      scene_.find_weakest(static_cast<Vertex>(block));
    });
  }

  std::size_t run() {
    const std::size_t passes = options_.hot_passes + options_.cold_passes;
    const double share = state_.worth_of_edges() / static_cast<double>(state_.vertices());
    Random seeds(options_.seed);
    std::size_t total = 0;
    for (std::size_t pass = 0; pass < passes; ++pass) {
      scene_.heat = 0;
      if (pass < options_.hot_passes)
        scene_.heat = share * options_.heat *
                      (1 - static_cast<double>(pass) / static_cast<double>(options_.hot_passes));
      scene_.seed = seeds.next();
      const std::size_t moved = run_pass();
      total += moved;
      if (run_.observer != nullptr)
        run_.observer->advance(static_cast<double>(pass + 1), static_cast<double>(passes));
      const auto few = options_.least_moved * static_cast<double>(state_.vertices());
      if (scene_.heat == 0 && static_cast<double>(moved) <= few) break;
    }
    return total;
  }

 private:
  std::size_t run_pass() {
    std::vector<Vertex> wanted;
    for (Vertex block = 0; block < state_.blocks(); ++block) {
      const std::span<const Vertex> members = state_.members(block);
      if (std::any_of(members.begin(), members.end(), [&](Vertex v) { return scene_.awake[v] != 0; }))
        wanted.push_back(block);
    }
    const std::size_t a_round = std::max<std::size_t>(1, kRoundVertices / state_.block_size());
    std::size_t moved = 0;
    for (std::size_t first = 0; first < wanted.size(); first += a_round)
      moved += run_round(std::span(wanted).subspan(first, std::min(a_round, wanted.size() - first)));
    return moved;
  }

  std::size_t run_round(std::span<const Vertex> blocks) {
    std::vector<Visit> visits(blocks.size());
    parallel_for(run_, blocks.size(), 1, [&](std::size_t b, std::size_t, unsigned worker) {
      if (!visitors_[worker]) visitors_[worker] = std::make_unique<Visitor>(scene_, run_);
      visits[b] = visitors_[worker]->visit(blocks[b]);
    });
    ++round_;
    touched_.assign(blocks.begin(), blocks.end());
    for (const Visit& visit : visits)
      for (const Looked& looked : visit.looked) {
        scene_.stay[looked.vertex] = looked.stay;
        scene_.awake[looked.vertex] = looked.wishes || scene_.heat > 0;
      }
    std::size_t moved = 0;
    for (const Visit& visit : visits)
      for (const Proposal& proposal : visit.proposals) moved += take(proposal);
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const Vertex block : touched_) scene_.find_weakest(block);
    return moved;
  }

  bool take(const Proposal& proposal) {
    const Vertex u = proposal.vertex, from = state_.seat(u).block;
    const auto is_old = [&](Vertex partner) {
      return changed_in_[from] == round_ || changed_in_[state_.seat(partner).block] == round_;
    };
    Vertex partner = proposal.partners[0];
    if (is_old(partner)) {
      partner = kNoVertex;
      double best = proposal.least;
      for (const Vertex v : proposal.partners) {
        if (v == kNoVertex || state_.seat(v).block == from) continue;
        const double gain = trial_.gain(u, v);
        if (gain > best && (!is_old(v) || scene_.may_swap(u, v))) best = gain, partner = v;
      }
      if (partner == kNoVertex) return false;
    }
    make(u, partner);
    return true;
  }

  void make(Vertex u, Vertex v) {
    trial_.gain(u, v);
    const Seat seat_u = state_.seat(u), seat_v = state_.seat(v);
    for (const Vertex j : trial_.changed()) scene_.stay[j] -= scene_.present_gain(j);
    state_.swap(trial_);
    for (const Vertex j : trial_.changed()) scene_.stay[j] += scene_.present_gain(j);
    tell_neighbours(u, seat_u, v);
    tell_neighbours(v, seat_v, u);
    for (const Vertex w : {u, v}) scene_.stay[w] = scene_.measure_stay(w);
    for (const Vertex block : {seat_u.block, seat_v.block}) {
      for (const Vertex j : state_.members(block)) scene_.awake[j] = 1;
      changed_in_[block] = round_;
      touched_.push_back(block);
    }
  }

  /// v has moved: its neighbours wake, and what its leaving or theirs would cost is brought up to date, but
  /// for what has changed in the shares of others.
  void tell_neighbours(Vertex v, const Seat& before, Vertex partner) {
    const PackModel& model = state_.model();
    const Seat& now = state_.seat(v);
    const auto tell = [&](const Edges& edges, const Array<float>& weights, float share, float share_before) {
      for (EdgeIndex e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e) {
        const Vertex j = edges.columns[e], block = state_.seat(j).block;
        scene_.awake[j] = 1;
        if (j == partner) continue;
        if (block == now.block) scene_.stay[j] += fall(weights[e] * share);
        if (block == before.block) scene_.stay[j] -= fall(weights[e] * share_before);
      }
    };
    tell(model.graph->out, model.out, now.share_x(), before.share_x());
    tell(model.graph->in, model.in, now.share_y(), before.share_y());
  }

  PackState& state_;
  const SwapOptions& options_;
  const RunContext& run_;
  Scene scene_;
  SwapTrial trial_;
  std::vector<std::unique_ptr<Visitor>> visitors_;
  std::vector<Vertex> touched_;          ///< blocks of this round that were visited or changed
  std::vector<std::size_t> changed_in_;  ///< the round in which a block was changed last
  std::size_t round_ = 0;
};

}  // namespace

std::size_t improve_by_swaps(PackState& state, const SwapOptions& options, const BlockRules* rules,
                             const RunContext& run) {
  return Swaps(state, options, rules, run).run();
}

}  // namespace gcbs
