// Graph -> order. Every order is a permutation "new position -> old row".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "gcbs/graph.h"
#include "gcbs/observer.h"

namespace gcbs {

/// rcm: reverse Cuthill-McKee, the paper's order. cm: the same, not reversed. chain: Algorithm 1 of
/// the paper as printed. pack: blocks that maximise an objective. random: seeded shuffle. natural: the rows
/// as they are.
enum class Method : std::uint8_t { rcm, cm, chain, pack, random, natural };

/// What pack maximises in the blocks: the number of kept edges, the sum of their similarities, or the loss.
enum class Objective : std::uint8_t { edges, similarity, loss };

/// How long pack searches. fast: growth and three passes of swaps. normal ("default"): swaps until few gain.
/// best: a long search that also accepts losses at first, many times the cost of normal.
enum class Effort : std::uint8_t { fast, normal, best };

const char* name_of(Method method) noexcept;
std::optional<Method> method_from(std::string_view name) noexcept;
const char* name_of(Objective objective) noexcept;
std::optional<Objective> objective_from(std::string_view name) noexcept;
const char* name_of(Effort effort) noexcept;
std::optional<Effort> effort_from(std::string_view name) noexcept;
/// True for the methods that read the graph.
bool needs_graph(Method method) noexcept;

/// order[p] is the row that stands at position p; every row exactly once.
struct Order {
  std::vector<Vertex> old_of_new;
};

struct PackOptions {
  Objective objective = Objective::loss;
  Effort effort = Effort::normal;
  double temperature = 0.05;  ///< of the loss
  /// An order to improve, the last epoch's for example. Empty: start anew.
  std::vector<std::int64_t> from;
};

struct OrderingOptions {
  Method method = Method::pack;
  PackOptions pack;  ///< of Method::pack
  std::uint64_t seed = 0;
  /// Count a diagonal entry twice in a vertex's degree, as scipy does (the paper's listing keeps it).
  bool paper_degrees = false;
};

}  // namespace gcbs
