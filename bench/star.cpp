// bench_star: rcm on stars, where sorting a hub's neighbours badly costs degree squared.
//
// Vertex 0 has an edge to every other vertex. By the rule (breadth first from the least (degree, index),
// neighbours by (degree, index), reversed) the order is n-1, ..., 3, 2, 0, 1: compared first, then timed.
// Seconds should grow with the edges: ten times the vertices, about ten times the time.
//
//     bench_star        one JSON object on stdout
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/run.h"
#include "gcbs/cpu.h"
#include "graph/graph.h"
#include "ordering/order_graph.h"

namespace gcbs {
namespace {

Edges star_of(std::size_t vertices) {
  Edges edges{Array<EdgeIndex>(vertices + 1, vertices - 1), Array<Vertex>(vertices - 1)};
  edges.offsets[0] = 0;
  for (std::size_t leaf = 1; leaf < vertices; ++leaf) edges.columns[leaf - 1] = static_cast<Vertex>(leaf);
  return edges;
}

bool is_right(const Order& order, std::size_t vertices) {
  if (order.old_of_new.size() != vertices) return false;
  for (std::size_t p = 0; p + 2 < vertices; ++p)
    if (order.old_of_new[p] != vertices - 1 - p) return false;
  return order.old_of_new[vertices - 2] == 0 && order.old_of_new[vertices - 1] == 1;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int run() {
  RunContext context;
  context.threads = usable_cores();
  OrderingOptions options;
  options.method = Method::rcm;
  std::printf("{\"threads\": %u, \"runs\": [", context.threads);
  for (const std::size_t vertices : {std::size_t{10'000}, std::size_t{100'000}, std::size_t{1'000'000}}) {
    const Graph graph = build_graph(star_of(vertices), context);
    if (!is_right(order_graph(graph, options, context), vertices)) {
      std::fprintf(stderr, "bench_star: wrong order of a star of %zu vertices\n", vertices);
      return 1;
    }
    double best = 1e300;
    for (int round = 0; round < 5; ++round) {
      const auto begin = std::chrono::steady_clock::now();
      order_graph(graph, options, context);
      best = std::min(best, seconds_since(begin));
    }
    std::printf("%s{\"vertices\": %zu, \"order_seconds\": %.6f}", vertices == 10'000 ? "" : ", ", vertices,
                best);
  }
  std::printf("]}\n");
  return 0;
}

}  // namespace
}  // namespace gcbs

int main() { return gcbs::run(); }
