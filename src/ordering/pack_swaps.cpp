// Local search: vertices of two blocks change places wherever that gains.
//
// Requires: a state. Ensures: without heat the objective never falls; the same swaps for every number of
// threads. Cost: a pass scans every list twice, in parallel, and both lists of a few swaps a vertex. Later
// passes visit only blocks that changed.
//
// A visit to block P scans the lists of its members once and so learns, for every vertex outside that has
// an edge into P, what it would gain by joining (`Join`). With what each of them would lose by leaving its
// own block (`stay`), every other block Q has its best candidates for the way into P. Then each member u of
// P looks at the blocks Q it has edges into: gain of u in Q - stay of u + score of Q's candidate. The best
// few pairs are proposed.
//
// Blocks are visited in rounds: visits of a round only read, so they run side by side; then the proposals
// are taken one by one, in order, each evaluated exactly (PackState::gain_of_swap) on what the ones before
// have left. The estimates are of second order and may be old; what is done is always exact.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <memory>

#include "base/elementary.h"
#include "base/random.h"
#include "ordering/pack_steps.h"

namespace gcbs {
namespace {

constexpr std::size_t kCandidates = 2;  // of a block, for the way into another
constexpr std::size_t kTrials = 3;      // swaps of a vertex that are evaluated exactly
constexpr std::size_t kRoundVertices = 4096;
constexpr float kNever = -std::numeric_limits<float>::max();
constexpr Vertex kNone = ~Vertex{0};

/// log x to within 0.01 and, near 1, 7 per cent: the exponent, and a parabola through the mantissa. x >= 1.
float rough_log(float x) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto exponent = static_cast<float>(static_cast<int>(bits >> 23) - 127);
  const float m = std::bit_cast<float>((bits & 0x007FFFFFu) | 0x3F800000u) - 1;
  return 0.69314718f * (exponent + m * (1.3465f - 0.3465f * m));
}

/// What the logarithm of a sum of 1 gains by r more, and loses by r less, to the second order.
float rise(float r) noexcept { return r / (1 + 0.5f * r); }
float fall(float r) noexcept { return r * (1 + r * (0.5f + r * 0.6f)); }

struct Trial {
  float score = kNever;
  Vertex partner = kNone;
};
/// The best swaps of one vertex, by estimate.
struct Proposal {
  Vertex vertex;
  std::array<Trial, kTrials> trials{};

  void consider(float score, Vertex partner) {
    if (score <= trials.back().score) return;
    std::size_t at = kTrials - 1;
    for (; at > 0 && trials[at - 1].score < score; --at) trials[at] = trials[at - 1];
    trials[at] = {score, partner};
  }
};

/// What all visitors read and nobody writes while they visit.
struct Scene {
  const PackModel& model;
  const PackState& state;
  Array<float> stay;            ///< what each vertex, and its block, would lose if it left
  std::vector<Vertex> weakest;  ///< of each block: the vertex of least stay

  template <class Visit>
  void scan(Vertex v, Visit&& visit) const {
    const Graph& graph = *model.graph;
    for (EdgeIndex e = graph.out.offsets[v]; e < graph.out.offsets[v + 1]; ++e)
      visit(graph.out.columns[e], model.out[e], true);
    for (EdgeIndex e = graph.in.offsets[v]; e < graph.in.offsets[v + 1]; ++e)
      visit(graph.in.columns[e], model.in[e], false);
  }

  /// What v's own anchors gain by edges of these weights.
  float own_gain(Vertex v, float x, float y) const noexcept {
    const float base = model.base[v];
    return rough_log((base + x) / base) + rough_log((base + y) / base);
  }

  float measure_stay(Vertex v) const {
    const Vertex block = state.seat(v).block;
    float others = 0, x = 0, y = 0;
    scan(v, [&](Vertex j, float weight, bool out) {
      const Seat& seat = state.seat(j);
      if (seat.block != block || j == v) return;
      others += fall(weight * (out ? seat.share_y : seat.share_x));
      (out ? x : y) += weight;
    });
    return others + own_gain(v, x, y);
  }

  void find_weakest(Vertex block) {
    const std::span<const Vertex> members = state.members(block);
    weakest[block] = *std::min_element(members.begin(), members.end(), [&](Vertex a, Vertex b) {
      return stay[a] != stay[b] ? stay[a] < stay[b] : a < b;
    });
  }
};

/// One worker's way round the blocks.
class Visitor {
 public:
  Visitor(const Scene& scene, const RunContext& run)
      : scene_(scene),
        join_(scene.model.vertices(), Join{kNone, 0, 0, 0}, run.meter),
        candidates_(scene.state.blocks()),
        pulls_(scene.state.blocks()) {}

  /// Appends a proposal for every member that has one.
  void visit(Vertex block, std::vector<Proposal>& proposals) {
    look_around(block);
    for (const Vertex u : scene_.state.members(block)) {
      Proposal proposal{u};
      propose(block, proposal);
      if (proposal.trials[0].partner != kNone) proposals.push_back(proposal);
    }
    for (const Vertex other : touched_blocks_) candidates_[other] = {};
    for (const Vertex j : touched_) join_[j].block = kNone;
  }

 private:
  /// What a vertex outside gets from joining the block, in parts.
  struct Join {
    Vertex block;
    float others;        ///< gains of the block's members
    float own_x, own_y;  ///< weights of its own edges into it
  };
  struct Pull {
    float others = 0, own_x = 0, own_y = 0;
  };

  void look_around(Vertex block) {
    touched_.clear();
    touched_blocks_.clear();
    const PackState& state = scene_.state;
    for (const Vertex v : state.members(block)) {
      const Seat own = state.seat(v);
      scene_.scan(v, [&](Vertex j, float weight, bool out) {
        if (state.seat(j).block == block) return;
        Join& join = join_[j];
        if (join.block != block) {
          join = {block, 0, 0, 0};
          touched_.push_back(j);
        }
        join.others += rise(weight * (out ? own.share_x : own.share_y));
        (out ? join.own_y : join.own_x) += weight;
      });
    }
    for (const Vertex j : touched_) {
      const Vertex other = state.seat(j).block;
      std::array<Trial, kCandidates>& best = candidates_[other];
      const float score =
          join_[j].others + scene_.own_gain(j, join_[j].own_x, join_[j].own_y) - scene_.stay[j];
      if (best[0].partner == kNone) touched_blocks_.push_back(other);
      if (score > best[0].score) {
        best[1] = best[0];
        best[0] = {score, j};
      } else if (score > best[1].score) {
        best[1] = {score, j};
      }
    }
  }

  void propose(Vertex block, Proposal& proposal) {
    const Vertex u = proposal.vertex;
    pulled_.clear();
    scene_.scan(u, [&](Vertex j, float weight, bool out) {
      const Seat& seat = scene_.state.seat(j);
      if (seat.block == block) return;
      Pull& pull = pulls_[seat.block];
      if (pull.own_x == 0 && pull.own_y == 0) pulled_.push_back(seat.block);
      pull.others += rise(weight * (out ? seat.share_y : seat.share_x));
      (out ? pull.own_x : pull.own_y) += weight;
    });
    for (const Vertex other : pulled_) {
      Pull& pull = pulls_[other];
      const float gain = pull.others + scene_.own_gain(u, pull.own_x, pull.own_y) - scene_.stay[u];
      pull = {};
      for (const Trial& candidate : candidates_[other])
        if (candidate.partner != kNone) proposal.consider(gain + candidate.score, candidate.partner);
      const Vertex weak = scene_.weakest[other];
      if (join_[weak].block != block) proposal.consider(gain - scene_.stay[weak], weak);
    }
  }

  const Scene& scene_;
  Array<Join> join_;
  std::vector<std::array<Trial, kCandidates>> candidates_;  ///< of each block, for the way into this one
  std::vector<Pull> pulls_;                                 ///< of each block, on u
  std::vector<Vertex> touched_, touched_blocks_, pulled_;
};

class Swaps {
 public:
  Swaps(const PackModel& model, PackState& state, const SwapOptions& options, const BlockRules* rules,
        const RunContext& run)
      : state_(state),
        options_(options),
        rules_(rules),
        run_(run),
        random_(options.seed),
        unit_(model.unit),
        scene_{model, state, Array<float>(model.vertices(), run.meter), std::vector<Vertex>(state.blocks())},
        visitors_(std::max(run.threads, 1u)),
        changed_(state.blocks(), true) {
    parallel_for(run, state.blocks(), 1, [&](std::size_t block, std::size_t, unsigned) { measure(block); });
  }

  std::size_t run() {
    const auto passes = static_cast<double>(options_.most_passes);
    std::size_t total = 0;
    for (std::size_t pass = 0; pass < options_.most_passes; ++pass) {
      heat_ = unit_ * options_.heat * (1 - static_cast<double>(pass + 1) / passes);
      std::vector<Vertex> wanted;
      for (Vertex block = 0; block < state_.blocks(); ++block)
        if (changed_[block] || options_.heat > 0) wanted.push_back(block);
      changed_.assign(state_.blocks(), false);
      const std::size_t moved = run_pass(wanted);
      total += moved;
      if (run_.observer != nullptr) run_.observer->advance(static_cast<double>(pass + 1), passes);
      if (heat_ == 0 && static_cast<double>(moved) <= options_.least_moved * static_cast<double>(vertices()))
        break;
    }
    return total;
  }

 private:
  std::size_t vertices() const noexcept { return scene_.model.vertices(); }

  void measure(std::size_t block) {
    const auto b = static_cast<Vertex>(block);
    for (const Vertex v : state_.members(b)) scene_.stay[v] = scene_.measure_stay(v);
    scene_.find_weakest(b);
  }

  std::size_t run_pass(std::span<const Vertex> wanted) {
    const std::size_t a_round = std::max<std::size_t>(1, kRoundVertices / state_.members(0).size());
    std::size_t moved = 0;
    for (std::size_t first = 0; first < wanted.size(); first += a_round) {
      const std::span<const Vertex> blocks = wanted.subspan(first, std::min(a_round, wanted.size() - first));
      std::vector<std::vector<Proposal>> proposals(blocks.size());
      parallel_for(run_, blocks.size(), 1, [&](std::size_t b, std::size_t, unsigned worker) {
        if (!visitors_[worker]) visitors_[worker] = std::make_unique<Visitor>(scene_, run_);
        visitors_[worker]->visit(blocks[b], proposals[b]);
      });
      touched_.clear();
      for (const std::vector<Proposal>& list : proposals)
        for (const Proposal& proposal : list) moved += take(proposal);
      refresh();
    }
    return moved;
  }

  bool take(const Proposal& proposal) {
    const Vertex u = proposal.vertex, block = state_.seat(u).block;
    // A system of this heat accepts a loss of h with probability e^(-h / heat).
    double best = kLeastGain * unit_;
    if (heat_ > 0) best = heat_ * log_of(static_cast<double>((random_.next() >> 11) + 1) * 0x1p-53);
    Vertex partner = kNone;
    for (const Trial& trial : proposal.trials) {
      if (trial.partner == kNone || static_cast<double>(trial.score) <= best - kMargin * unit_) break;
      if (state_.seat(trial.partner).block == block) continue;
      const double gain = state_.gain_of_swap(u, trial.partner);
      if (gain > best && may_swap(u, trial.partner)) best = gain, partner = trial.partner;
    }
    if (partner == kNone) return false;
    const Vertex other = state_.seat(partner).block;
    state_.gain_of_swap(u, partner);
    state_.swap(u, partner);
    changed_[block] = changed_[other] = true;
    touched_.push_back(block);
    touched_.push_back(other);
    return true;
  }

  /// Blocks that a round has changed are measured anew.
  void refresh() {
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    parallel_for(run_, touched_.size(), 4, [&](std::size_t begin, std::size_t end, unsigned) {
      for (std::size_t t = begin; t < end; ++t) measure(touched_[t]);
    });
  }

  bool may_swap(Vertex u, Vertex v) const {
    if (rules_ == nullptr) return true;
    return rules_->may_join(u, state_.members(state_.seat(v).block), v) &&
           rules_->may_join(v, state_.members(state_.seat(u).block), u);
  }

  /// In units of the objective: what counts as a gain, and by how much an estimate may be too low.
  static constexpr double kLeastGain = 1e-9, kMargin = 0.25;
  PackState& state_;
  const SwapOptions& options_;
  const BlockRules* rules_;
  const RunContext& run_;
  Random random_;
  double unit_, heat_ = 0;
  Scene scene_;
  std::vector<std::unique_ptr<Visitor>> visitors_;
  std::vector<Vertex> touched_;
  std::vector<bool> changed_;
};

}  // namespace

std::size_t improve_by_swaps(const PackModel& model, PackState& state, const SwapOptions& options,
                             const BlockRules* rules, const RunContext& run) {
  return Swaps(model, state, options, rules, run).run();
}

}  // namespace gcbs
