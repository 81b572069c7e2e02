// How long to search, and where to begin.
//
// Blocks are grown from the rcm order, which stands neighbours together and so starts the blocks well, or
// taken from an earlier order. Swaps follow. The search of `best` accepts losses at first, like a hot system
// that cools, and so leaves local optima that swaps alone end in; on few vertices it is begun several times.
// The best state that was seen is what is returned.
#include "ordering/pack.h"

#include <algorithm>
#include <array>

#include "base/random.h"
#include "ordering/order_graph.h"
#include "ordering/orders.h"
#include "ordering/pack_steps.h"

namespace gcbs {
namespace {

constexpr std::size_t kFastPasses = 2, kNormalPasses = 12, kLastPasses = 60, kHotPasses = 200;
constexpr double kHeat = 2.5, kFewMoved = 0.002;
/// `best` is begun so often that about this many vertices are packed in all, at most kMostStarts times.
constexpr std::size_t kVerticesInAll = 4096, kMostStarts = 16;

template <class Value>
struct Named {
  Value value;
  const char* name;
};
constexpr std::array<Named<Objective>, 3> kObjectives{
    {{Objective::edges, "edges"}, {Objective::similarity, "similarity"}, {Objective::loss, "loss"}}};
constexpr std::array<Named<Effort>, 3> kEfforts{
    {{Effort::fast, "fast"}, {Effort::normal, "default"}, {Effort::best, "best"}}};

template <class List, class Value>
const char* name_in(const List& list, Value value) noexcept {
  for (const auto& entry : list)
    if (entry.value == value) return entry.name;
  return "unknown";
}
template <class Value, std::size_t Size>
std::optional<Value> value_in(const std::array<Named<Value>, Size>& list, std::string_view name) noexcept {
  for (const auto& entry : list)
    if (entry.name == name) return entry.value;
  return std::nullopt;
}

/// The best order so far.
struct Record {
  std::vector<Vertex> order;
  double objective = 0;

  void take(const PackState& state) {
    const double reached = state.objective();
    if (!order.empty() && reached <= objective) return;
    order = state.order();
    objective = reached;
  }
};

std::size_t search(const PackModel& model, PackState& state, Effort effort, const BlockRules* rules,
                   std::uint64_t seed, const RunContext& run) {
  SwapOptions options;
  options.seed = seed;
  std::size_t swaps = 0;
  if (effort == Effort::best) {
    options.most_passes = kHotPasses;
    options.heat = kHeat;
    swaps += improve_by_swaps(model, state, options, rules, run);
    options.heat = 0;
  }
  options.most_passes = effort == Effort::fast     ? kFastPasses
                        : effort == Effort::normal ? kNormalPasses
                                                   : kLastPasses;
  options.least_moved = effort == Effort::best ? 0 : kFewMoved;
  return swaps + improve_by_swaps(model, state, options, rules, run);
}

}  // namespace

const char* name_of(Objective objective) noexcept { return name_in(kObjectives, objective); }
std::optional<Objective> objective_from(std::string_view name) noexcept {
  return value_in(kObjectives, name);
}
const char* name_of(Effort effort) noexcept { return name_in(kEfforts, effort); }
std::optional<Effort> effort_from(std::string_view name) noexcept { return value_in(kEfforts, name); }

PackedOrder order_pack(const PackModel& model, const PackOptions& options, std::size_t block_size,
                       const BlockRules* rules, std::uint64_t seed, const RunContext& run) {
  const std::size_t n = model.vertices();
  const std::vector<Vertex> start =
      !options.from.empty()
          ? std::vector<Vertex>(options.from.begin(), options.from.end())
          : grow_blocks(model, block_size, order_rcm(*model.graph, {}, run).order.old_of_new, rules, run);
  const std::size_t starts =
      options.effort == Effort::best ? std::clamp<std::size_t>(kVerticesInAll / n, 1, kMostStarts) : 1;
  PackedOrder result;
  Record best;
  Random seeds(seed);
  for (std::size_t s = 0; s < starts; ++s) {
    PackState state(model, block_size, s == 0 ? start : order_random(n, seeds.next()).old_of_new, run);
    if (s == 0) best.take(state);
    result.swaps += search(model, state, options.effort, rules, seeds.next(), run);
    best.take(state);
  }
  result.order.old_of_new = std::move(best.order);
  result.objective = best.objective;
  check_permutation(result.order, n);
  return result;
}

double pack_bytes(std::size_t vertices, double edges, unsigned threads) noexcept {
  return 8 * edges + static_cast<double>(vertices) * (120 + 32.0 * threads) + 1e6;
}

}  // namespace gcbs
