// Dispatch of the orders, their names, and the promise that each is a permutation (contract C5).
//
// The check is always on: a bit a vertex and a few ns, nothing beside the walk, and a batch that holds
// a sample twice would be noticed by nobody.
#include "ordering/order_graph.h"

#include <array>

#include "gcbs/error.h"
#include "ordering/orders.h"

namespace gcbs {

namespace {

struct Entry {
  Method method;
  const char* name;
  bool needs_graph;
};
constexpr std::array<Entry, 6> kMethods{{{Method::rcm, "rcm", true},
                                         {Method::cm, "cm", true},
                                         {Method::chain, "chain", true},
                                         {Method::pack, "pack", true},
                                         {Method::random, "random", false},
                                         {Method::natural, "natural", false}}};

const Entry* find_entry(Method method) noexcept {
  for (const Entry& entry : kMethods)
    if (entry.method == method) return &entry;
  return nullptr;
}

Order run_method(const Graph& graph, const OrderingOptions& options, const RunContext& run) {
  switch (options.method) {
    case Method::rcm: return order_rcm(graph, options, run).order;
    case Method::cm: return order_cm(graph, options, run).order;
    case Method::chain: return order_chain(graph, options, run).order;
    case Method::pack:
      throw Error(ErrorKind::internal, "pack needs more than a graph", "", "call order_pack");
    case Method::random: return order_random(graph.vertices(), options.seed);
    case Method::natural: return order_natural(graph.vertices());
  }
  throw Error(ErrorKind::usage, "no such method",
              "its value is none of rcm, cm, chain, pack, random, natural");
}

}  // namespace

const char* name_of(Method method) noexcept {
  const Entry* const entry = find_entry(method);
  return entry == nullptr ? "unknown" : entry->name;
}

std::optional<Method> method_from(std::string_view name) noexcept {
  for (const Entry& entry : kMethods)
    if (entry.name == name) return entry.method;
  return std::nullopt;
}

bool needs_graph(Method method) noexcept {
  const Entry* const entry = find_entry(method);
  return entry != nullptr && entry->needs_graph;
}

void check_permutation(const Order& order, std::size_t vertices) {
  std::vector<bool> met(vertices);
  bool whole = order.old_of_new.size() == vertices;
  for (const Vertex v : order.old_of_new) {
    whole = whole && v < vertices && !met[v];
    if (!whole) break;
    met[v] = true;
  }
  if (!whole) throw Error(ErrorKind::internal, "the order is not a permutation", "", "please report this");
}

Order order_graph(const Graph& graph, const OrderingOptions& options, const RunContext& run) {
  Order order = run_method(graph, options, run);
  check_permutation(order, graph.vertices());
  return order;
}

std::uint64_t order_graph_bytes(std::size_t vertices) noexcept {
  // Degrees, their counts, ranks both ways. The order comes when the first two have gone.
  return vertices * 4 * sizeof(Vertex) + 64;
}

}  // namespace gcbs
