// A visit to block P: which members would do better elsewhere, and who there would do better here.
//
// Requires: a scene at rest. Ensures: proposals whose first swap gains what is wanted, evaluated exactly on
// the state as it is. Cost: the lists of P's members twice, of which most entries take an addition; both
// lists of a few vertices for each swap that is evaluated.
//
// A swap of u in P and v in Q gains about A(u, Q) + A(v, P), A being what is gained by going there less what
// is lost by leaving (`stay`), and what the two count of each other taken off again. One of the two is
// positive: so u looks for blocks with A(u, Q) > 0 only, and where it is v who wishes to move, v's visit
// finds the swap. Most vertices have no wish. This is found out by a bound: what anchors gain is concave, so
// the tangent at the present sums is never below it, and the tangent is a plain sum over u's edges into Q.
// Blocks whose bound passes the bar are then estimated to the second order.
//
// For the blocks that are wished for, the lists of P's members are gone through again (their neighbours'
// blocks were written down), which gives A(v, P) for all v there; the best few are candidates, and the one of
// least `stay`, who may have no edge here at all.
#include "ordering/pack_visit.h"

#include <bit>
#include <limits>

#include "base/elementary.h"
#include "base/random.h"

namespace gcbs {
namespace {

constexpr float kNever = -std::numeric_limits<float>::max();
constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};
/// In units of the objective: what counts as a gain.
constexpr double kLeastGain = 1e-9;
/// By how much estimates may be too low, as a share of what the vertices would lose by leaving.
constexpr float kMargin = 0.1f;
/// `stay` may be a little old, and shares are rounded.
constexpr float kBoundSlack = 0.98f;

/// log x to within 0.01 and, near 1, 7 per cent: the exponent, and a parabola through the mantissa. x >= 1.
float rough_log(float x) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const auto exponent = static_cast<float>(static_cast<int>(bits >> 23) - 127);
  const float m = std::bit_cast<float>((bits & 0x007FFFFFu) | 0x3F800000u) - 1;
  return 0.69314718f * (exponent + m * (1.3465f - 0.3465f * m));
}

/// What the logarithm of a sum of 1 gains by r more, about.
float rise(float r) noexcept { return r / (1 + 0.5f * r); }

/// One of the two directions of the graph, with its weights, and the share of a neighbour's sum that an edge
/// of it enters.
template <bool Out>
struct Side {
  const Edges& edges;
  const Array<float>& weights;
  explicit Side(const PackModel& model)
      : edges(Out ? model.graph->out : model.graph->in), weights(Out ? model.out : model.in) {}
  static float neighbour_share(const Seat& seat) noexcept { return Out ? seat.share_y() : seat.share_x(); }
  static float own_share(const Seat& seat) noexcept { return Out ? seat.share_x() : seat.share_y(); }
};

/// What v's own anchors gain by weights of these sums.
float gain_of_anchors(const PackModel& model, Vertex v, float x, float y) noexcept {
  const float base = model.base[v];
  return rough_log((base + x) / base) + rough_log((base + y) / base);
}

/// The weight of the edge between u and v, 0 where there is none.
template <bool Out>
float weight_between(const PackModel& model, Vertex u, Vertex v) {
  const Side<Out> side(model);
  const std::span<const Vertex> row = side.edges.row(u);
  const auto at = std::lower_bound(row.begin(), row.end(), v);
  if (at == row.end() || *at != v) return 0;
  return side.weights[side.edges.offsets[u] + static_cast<EdgeIndex>(at - row.begin())];
}

}  // namespace

Scene::Scene(const PackState& of, const BlockRules* rules, const RunContext& run)
    : state(of),
      stay(of.vertices(), run.meter),
      awake(of.vertices(), std::uint8_t{1}, run.meter),
      rules_(rules),
      weakest_(of.blocks()) {}

float Scene::present_gain(Vertex v) const noexcept {
  const AnchorSums& sums = state.sums(v);
  const auto base = static_cast<double>(state.model().base[v]);
  return gain_of_anchors(state.model(), v, static_cast<float>(sums.x - base),
                         static_cast<float>(sums.y - base));
}

float Scene::measure_stay(Vertex v) const {
  float others = 0;
  const auto add = [&](const auto& side) {
    for (EdgeIndex e = side.edges.offsets[v]; e < side.edges.offsets[v + 1]; ++e) {
      const Vertex j = side.edges.columns[e];
      const Seat& seat = state.seat(j);
      if (seat.block == state.seat(v).block && j != v)
        others += fall(side.weights[e] * side.neighbour_share(seat));
    }
  };
  add(Side<true>(state.model()));
  add(Side<false>(state.model()));
  return others + present_gain(v);
}

void Scene::find_weakest(Vertex block) {
  const std::span<const Vertex> members = state.members(block);
  weakest_[block] = *std::min_element(members.begin(), members.end(), [&](Vertex a, Vertex b) {
    return stay[a] != stay[b] ? stay[a] < stay[b] : a < b;
  });
}

bool Scene::may_swap(Vertex u, Vertex v) const {
  return rules_ == nullptr || (rules_->may_join(u, state.members(state.seat(v).block), v) &&
                               rules_->may_join(v, state.members(state.seat(u).block), u));
}

double Scene::least_gain(Vertex u) const {
  if (heat == 0) return kLeastGain * state.model().unit;
  Random random(seed + u * 0x9E3779B97F4A7C15u);
  return heat * log_of(static_cast<double>((random.next() >> 11) + 1) * 0x1p-53);
}

Visitor::Visitor(const Scene& scene, const RunContext& run)
    : scene_(scene),
      state_(scene.state),
      model_(state_.model()),
      trial_(state_),
      entry_blocks_(run.meter),
      bounds_(state_.blocks(), 0.0f, run.meter),
      pulls_(state_.blocks(), Ties{}, run.meter),
      slots_(state_.blocks(), kNoSlot, run.meter),
      joins_(run.meter) {}

float Visitor::own_gain(Vertex v, float x, float y) const noexcept {
  return gain_of_anchors(model_, v, x, y);
}

Visit Visitor::visit(Vertex block) {
  Visit visit;
  wishes_.clear();
  entry_blocks_.clear();
  for (const Vertex v : state_.members(block)) {
    if (scene_.awake[v] != 0)
      look_at(v, block, scene_.least_gain(v), visit);
    else
      read_blocks(v);
  }
  if (wishes_.empty()) return visit;
  look_around(block);
  for (std::size_t first = 0, last = 0; first < wishes_.size(); first = last) {
    const Vertex u = wishes_[first].vertex;
    while (last < wishes_.size() && wishes_[last].vertex == u) ++last;
    propose(std::span(wishes_).subspan(first, last - first), scene_.least_gain(u), visit);
  }
  for (const Wanted& wanted : wanted_) slots_[wanted.block] = kNoSlot;
  return visit;
}

void Visitor::read_blocks(Vertex v) {
  for (const Edges* edges : {&model_.graph->out, &model_.graph->in})
    for (const Vertex j : edges->row(v)) entry_blocks_.push_back(state_.seat(j).block);
}

/// Adds u's edges of one direction to the bounds, and notes the blocks that pass the bar.
template <bool Out>
void Visitor::add_bounds(Vertex u, float share, float bar) {
  const Side<Out> side(model_);
  const EdgeIndex first = side.edges.offsets[u];
  const std::size_t count = side.edges.offsets[u + 1] - first, entry = entry_blocks_.size();
  entry_blocks_.resize(entry + count);
  Vertex* const blocks = entry_blocks_.data() + entry;
  for (std::size_t e = 0; e < count; ++e) {
    const Seat& seat = state_.seat(side.edges.columns[first + e]);
    blocks[e] = seat.block;
    float& bound = bounds_[seat.block];
    const float before = bound;
    bound += side.weights[first + e] * (share + Side<Out>::neighbour_share(seat));
    if (before <= bar && bound > bar) promising_.push_back(seat.block);
  }
}

/// Adds u's edges of one direction to the ties with its own block and with those above the bar.
template <bool Out>
std::size_t Visitor::add_ties(Vertex u, Vertex block, float bar, std::size_t entry, Ties& inside) {
  const Side<Out> side(model_);
  for (EdgeIndex e = side.edges.offsets[u]; e < side.edges.offsets[u + 1]; ++e, ++entry) {
    const Vertex other = entry_blocks_[entry];
    if (bounds_[other] <= bar && other != block) continue;
    const Vertex j = side.edges.columns[e];
    if (j == u) continue;
    const float weight = side.weights[e], ratio = weight * Side<Out>::neighbour_share(state_.seat(j));
    Ties& ties = other == block ? inside : pulls_[other];
    ties.others += other == block ? fall(ratio) : rise(ratio);
    (Out ? ties.x : ties.y) += weight;
  }
  return entry;
}

/// Which blocks would suit u better, or worse by no more than half of what may be lost.
void Visitor::look_at(Vertex u, Vertex block, double least, Visit& visit) {
  const AnchorSums& sums = state_.sums(u);
  const auto base = static_cast<double>(model_.base[u]);
  const auto accepted = static_cast<float>(std::min(least, 0.0) / 2);
  // log X' <= log X + X' / X - 1: going where X' comes from gains nothing as long as the bound is below
  // what the others would lose, and what of the tangent's sum the base gives.
  const float others = scene_.stay[u] - scene_.present_gain(u);
  const float rest = others + static_cast<float>(2 - base / sums.x - base / sums.y);
  const float bar = kBoundSlack * rest + accepted;
  const std::size_t entry = entry_blocks_.size();
  promising_.clear();
  add_bounds<true>(u, static_cast<float>(1 / sums.x), bar);
  add_bounds<false>(u, static_cast<float>(1 / sums.y), bar);
  Looked looked{u, scene_.stay[u], false};
  if (promising_.size() > 1 || (promising_.size() == 1 && promising_[0] != block)) {
    Ties inside;
    add_ties<false>(u, block, bar, add_ties<true>(u, block, bar, entry, inside), inside);
    looked.stay = inside.others + own_gain(u, inside.x, inside.y);
    for (const Vertex other : promising_) {
      if (other == block) continue;
      Ties& pull = pulls_[other];
      const float gain = pull.others + own_gain(u, pull.x, pull.y) - looked.stay;
      if (gain > accepted) wishes_.push_back({u, other, gain, pull});
      looked.wishes = looked.wishes || gain > accepted;
      pull = {};
    }
  }
  for (std::size_t e = entry; e < entry_blocks_.size(); ++e) bounds_[entry_blocks_[e]] = 0;
  visit.looked.push_back(looked);
}

/// Adds v's edges of one direction to what members of wanted blocks would get here.
template <bool Out>
std::size_t Visitor::add_joins(Vertex v, std::size_t entry) {
  const Side<Out> side(model_);
  const float share = Side<Out>::own_share(state_.seat(v));
  for (EdgeIndex e = side.edges.offsets[v]; e < side.edges.offsets[v + 1]; ++e, ++entry) {
    const std::uint32_t slot = slots_[entry_blocks_[entry]];
    if (slot == kNoSlot) continue;
    const Vertex j = side.edges.columns[e];
    const float weight = side.weights[e];
    Ties& join = joins_[slot * state_.block_size() + state_.place(j)];
    if (join.x == 0 && join.y == 0) joined_.push_back(j);
    join.others += rise(weight * share);
    (Out ? join.y : join.x) += weight;
  }
  return entry;
}

/// Who would come from the blocks that are wished for.
void Visitor::look_around(Vertex block) {
  wanted_.clear();
  for (const Wish& wish : wishes_) {
    if (slots_[wish.block] != kNoSlot) continue;
    slots_[wish.block] = static_cast<std::uint32_t>(wanted_.size());
    wanted_.push_back({wish.block, {}});
  }
  joins_.resize(std::max(joins_.size(), wanted_.size() * state_.block_size()));
  joined_.clear();
  std::size_t entry = 0;
  for (const Vertex v : state_.members(block)) {
    entry = add_joins<true>(v, entry);
    entry = add_joins<false>(v, entry);
  }
  for (const Vertex j : joined_) {
    const std::uint32_t slot = slots_[state_.seat(j).block];
    Ties& join = joins_[slot * state_.block_size() + state_.place(j)];
    enter(wanted_[slot], {j, join.others + own_gain(j, join.x, join.y) - scene_.stay[j], join});
    join = {};
  }
  for (Wanted& wanted : wanted_) {
    const Vertex weak = scene_.weakest(wanted.block);
    const bool is_there = std::any_of(wanted.candidates.begin(), wanted.candidates.end(),
                                      [weak](const Candidate& there) { return there.vertex == weak; });
    if (!is_there) wanted.candidates.back() = {weak, -scene_.stay[weak], {}};
  }
}

/// Keeps the best, in order; the last place stays free.
void Visitor::enter(Wanted& wanted, const Candidate& candidate) {
  std::size_t at = kCandidates - 1;
  const auto is_worse = [&](const Candidate& there) {
    return there.vertex == kNoVertex || there.gain < candidate.gain;
  };
  if (!is_worse(wanted.candidates[at - 1])) return;
  for (--at; at > 0 && is_worse(wanted.candidates[at - 1]); --at)
    wanted.candidates[at] = wanted.candidates[at - 1];
  wanted.candidates[at] = candidate;
}

float Visitor::margin(Vertex u, Vertex v) const noexcept {
  return kMargin * (scene_.stay[u] + scene_.stay[v]);
}

/// What the swap would gain, about: both counted on each other and will not meet.
float Visitor::score(const Wish& wish, const Candidate& candidate) const {
  const Vertex u = wish.vertex, v = candidate.vertex;
  const float sum = wish.gain + candidate.gain;
  const float out = weight_between<true>(model_, u, v), in = weight_between<false>(model_, u, v);
  if (out == 0 && in == 0) return sum;
  const Seat &seat_u = state_.seat(u), &seat_v = state_.seat(v);
  const auto own_change = [&](Vertex w, const Ties& ties, float x, float y) {
    return own_gain(w, std::max(ties.x - x, 0.0f), std::max(ties.y - y, 0.0f)) - own_gain(w, ties.x, ties.y);
  };
  const float of_u = rise(out * seat_u.share_x()) + rise(in * seat_u.share_y());
  const float of_v = rise(out * seat_v.share_y()) + rise(in * seat_v.share_x());
  return sum - of_u - of_v + own_change(u, wish.ties, out, in) + own_change(v, candidate.ties, in, out);
}

/// The most promising partners of one vertex, evaluated.
void Visitor::propose(std::span<const Wish> wishes, double least, Visit& visit) {
  const Vertex u = wishes[0].vertex;
  std::array<Trial, Proposal::kPartners> trials;
  trials.fill({kNoVertex, kNever});
  for (const Wish& wish : wishes)
    for (const Candidate& candidate : wanted_[slots_[wish.block]].candidates) {
      if (candidate.vertex == kNoVertex) continue;
      const float most = wish.gain + candidate.gain;
      if (most <= trials.back().score || static_cast<double>(most + margin(u, candidate.vertex)) <= least)
        continue;
      const Trial trial{candidate.vertex, score(wish, candidate)};
      std::size_t at = trials.size();
      for (; at > 0 && trials[at - 1].score < trial.score; --at)
        if (at < trials.size()) trials[at] = trials[at - 1];
      if (at < trials.size()) trials[at] = trial;
    }
  Proposal proposal{u, {kNoVertex, kNoVertex, kNoVertex}, least};
  std::size_t found = 0;
  double best = least;
  for (const Trial& trial : trials) {
    if (trial.partner == kNoVertex || static_cast<double>(trial.score + margin(u, trial.partner)) <= least)
      continue;
    const double gain = trial_.gain(u, trial.partner);
    if (gain <= least || !scene_.may_swap(u, trial.partner)) continue;
    proposal.partners[found++] = trial.partner;
    if (gain > best) best = gain, std::swap(proposal.partners[0], proposal.partners[found - 1]);
  }
  if (found > 0) visit.proposals.push_back(proposal);
}

}  // namespace gcbs
