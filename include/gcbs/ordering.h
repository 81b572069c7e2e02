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
/// the paper as printed. random: seeded shuffle. natural: the rows as they are.
enum class Method : std::uint8_t { rcm, cm, chain, random, natural };

const char* name_of(Method method) noexcept;
std::optional<Method> method_from(std::string_view name) noexcept;
/// True for the methods that read the graph.
bool needs_graph(Method method) noexcept;

/// order[p] is the row that stands at position p; every row exactly once.
struct Order {
  std::vector<Vertex> old_of_new;
};

struct OrderingOptions {
  Method method = Method::rcm;
  std::uint64_t seed = 0;
  /// Count a diagonal entry twice in a vertex's degree, as scipy does (the paper's listing keeps it).
  bool paper_degrees = false;
};

}  // namespace gcbs
