// How long to search, and where to begin.
//
// Blocks are grown from the rcm order, which stands neighbours together and so starts the blocks well, or
// taken from an earlier order. Swaps follow. At first they accept losses, like a hot system that cools, and
// so leave local optima that gains alone end in; `best` starts hotter and cools for long, and on few vertices
// it is begun several times. The best state that was seen is what is returned.
#include "ordering/pack.h"

#include <algorithm>
#include <array>

#include "base/random.h"
#include "ordering/order_graph.h"
#include "ordering/orders.h"
#include "ordering/pack_steps.h"

namespace gcbs {
namespace {

/// Passes that accept losses, passes that do not at the most, and how hot the first ones are: chosen by what
/// `bench/orders.py` measures.
constexpr SwapOptions kFast{0, 3, 0, 0.005, 0}, kNormal{6, 12, 0.25, 0.005, 0}, kBest{300, 60, 1.2, 0, 0};
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

SwapOptions swap_options(const PackOptions& options, std::uint64_t seed) {
  SwapOptions chosen = options.effort == Effort::fast     ? kFast
                       : options.effort == Effort::normal ? kNormal
                                                          : kBest;
  // What an earlier order got right is not to be shaken up again, unless much time is to be spent.
  if (!options.from.empty() && options.effort != Effort::best) chosen.hot_passes = 0;
  chosen.seed = seed;
  return chosen;
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
    result.swaps += improve_by_swaps(state, swap_options(options, seeds.next()), rules, run);
    best.take(state);
  }
  result.order.old_of_new = std::move(best.order);
  result.objective = best.objective;
  check_permutation(result.order, n);
  return result;
}

double pack_bytes(std::size_t vertices, double edges, std::size_t block_size, unsigned threads) noexcept {
  const double entries_of_a_block =
      2 * edges / static_cast<double>(vertices) * static_cast<double>(block_size);
  return 8 * edges + static_cast<double>(vertices) * (120 + 32.0 * threads) +
         8 * threads * entries_of_a_block + 1e6;
}

}  // namespace gcbs
