#include "support/graphs.h"

#include <algorithm>
#include <deque>
#include <map>
#include <numeric>
#include <tuple>

#include "base/random.h"

namespace gcbs::testing {

namespace {

Vertex vertex(std::size_t v) { return static_cast<Vertex>(v); }

/// (degree, index) of a vertex, the key of every tie.
auto key_of(const std::vector<std::size_t>& degrees, Vertex v) { return std::make_pair(degrees[v], v); }

/// The vertex of least (degree, index) among those not taken.
Vertex least_left(const std::vector<std::size_t>& degrees, const std::vector<bool>& taken) {
  Vertex best = 0;
  bool found = false;
  for (Vertex v = 0; v < degrees.size(); ++v)
    if (!taken[v] && (!found || key_of(degrees, v) < key_of(degrees, best))) {
      best = v;
      found = true;
    }
  return best;
}

}  // namespace

Edges edges_of(std::size_t vertices, Pairs pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  Edges edges;
  edges.offsets = Array<EdgeIndex>(vertices + 1, EdgeIndex{0});
  edges.columns = Array<Vertex>(pairs.size());
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    ++edges.offsets[std::size_t{pairs[k].first} + 1];
    edges.columns[k] = pairs[k].second;
  }
  std::partial_sum(edges.offsets.begin(), edges.offsets.end(), edges.offsets.begin());
  return edges;
}

Graph graph_of(const Drawing& drawing, unsigned threads) {
  RunContext run;
  run.threads = threads;
  return build_graph(edges_of(drawing), run);
}

Drawing draw_empty(std::size_t vertices) { return {"empty of " + std::to_string(vertices), vertices, {}}; }

Drawing draw_path(std::size_t vertices) {
  Drawing drawing{"path of " + std::to_string(vertices), vertices, {}};
  for (std::size_t v = 1; v < vertices; ++v) drawing.pairs.emplace_back(vertex(v - 1), vertex(v));
  return drawing;
}

Drawing draw_star(std::size_t vertices) {
  Drawing drawing{"star of " + std::to_string(vertices), vertices, {}};
  for (std::size_t v = 1; v < vertices; ++v) drawing.pairs.emplace_back(0, vertex(v));
  return drawing;
}

Drawing draw_two_hubs(std::size_t vertices) {
  Drawing drawing = draw_star(vertices);
  drawing.name = "two hubs of " + std::to_string(vertices);
  for (std::size_t v = 2; v < vertices; ++v) drawing.pairs.emplace_back(1, vertex(v));
  return drawing;
}

Drawing draw_grid(std::size_t width, std::size_t height) {
  Drawing drawing{"grid " + std::to_string(width) + " x " + std::to_string(height), width * height, {}};
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) {
      const Vertex here = vertex(y * width + x);
      if (x + 1 < width) drawing.pairs.emplace_back(here, here + 1);
      if (y + 1 < height) drawing.pairs.emplace_back(vertex(here + width), here);
    }
  return drawing;
}

Drawing draw_cliques(const std::vector<std::size_t>& sizes) {
  Drawing drawing{"cliques", 0, {}};
  for (const std::size_t size : sizes) {
    for (std::size_t a = 0; a < size; ++a)
      for (std::size_t b = 0; b < size; ++b)
        if (a != b) drawing.pairs.emplace_back(vertex(drawing.vertices + a), vertex(drawing.vertices + b));
    drawing.vertices += size;
    drawing.name += " " + std::to_string(size);
  }
  return drawing;
}

Drawing draw_random(std::size_t vertices, double mean_row, std::uint64_t seed) {
  Drawing drawing{"random of " + std::to_string(vertices) + ", seed " + std::to_string(seed), vertices, {}};
  Random random(seed);
  for (auto k = static_cast<std::size_t>(mean_row * static_cast<double>(vertices)); k > 0; --k)
    drawing.pairs.emplace_back(vertex(random.below(vertices)), vertex(random.below(vertices)));
  return drawing;
}

Drawing draw_islands(std::size_t vertices, double mean_row, std::uint64_t seed) {
  Drawing drawing{"islands of " + std::to_string(vertices) + ", seed " + std::to_string(seed), vertices, {}};
  Random random(seed);
  // Members are strided over the vertices, so that components are not ranges of indices.
  const std::size_t islands = 1 + random.below(vertices);
  for (auto k = static_cast<std::size_t>(mean_row * static_cast<double>(vertices)); k > 0; --k) {
    const std::size_t row = random.below(vertices);
    const std::size_t column = row % islands + islands * random.below(vertices / islands + 1);
    if (column < vertices) drawing.pairs.emplace_back(vertex(row), vertex(column));
  }
  return drawing;
}

Drawing draw_skewed(std::size_t vertices, double mean_row, std::uint64_t seed) {
  Drawing drawing{"skewed of " + std::to_string(vertices) + ", seed " + std::to_string(seed), vertices, {}};
  Random random(seed);
  for (auto k = static_cast<std::size_t>(mean_row * static_cast<double>(vertices)); k > 0; --k) {
    const std::size_t column = random.below(1 + random.below(1 + random.below(vertices)));
    drawing.pairs.emplace_back(vertex(random.below(vertices)), vertex(column));
  }
  return drawing;
}

std::vector<Drawing> draw_many() {
  std::vector<Drawing> drawings;
  for (const std::size_t n : {0u, 1u, 2u, 17u}) drawings.push_back(draw_empty(n));
  for (const std::size_t n : {1u, 2u, 5u, 40u}) {
    drawings.push_back(draw_path(n));
    drawings.push_back(draw_star(n));
    drawings.push_back(draw_two_hubs(n));
  }
  drawings.push_back(draw_grid(7, 5));
  drawings.push_back(draw_grid(1, 9));
  drawings.push_back(draw_cliques({5, 1, 3, 8, 3}));
  for (std::uint64_t seed = 1; seed <= 8; ++seed)
    for (const double mean_row : {0.4, 1.0, 3.0, 20.0}) {
      drawings.push_back(draw_random(20 + 13 * seed, mean_row, seed));
      drawings.push_back(draw_islands(20 + 13 * seed, mean_row, seed));
      drawings.push_back(draw_skewed(20 + 13 * seed, mean_row, seed));
    }
  return drawings;
}

std::vector<std::set<Vertex>> naive_neighbours(const Drawing& drawing) {
  std::vector<std::set<Vertex>> neighbours(drawing.vertices);
  for (const auto& [row, column] : drawing.pairs) {
    neighbours[row].insert(column);
    neighbours[column].insert(row);
  }
  return neighbours;
}

std::vector<std::size_t> naive_degrees(const Drawing& drawing, bool diagonal_twice) {
  const auto neighbours = naive_neighbours(drawing);
  std::vector<std::size_t> degrees;
  for (Vertex v = 0; v < drawing.vertices; ++v)
    degrees.push_back(neighbours[v].size() + (diagonal_twice ? neighbours[v].count(v) : 0));
  return degrees;
}

std::vector<Vertex> naive_cm(const Drawing& drawing, bool diagonal_twice) {
  const auto neighbours = naive_neighbours(drawing);
  const auto degrees = naive_degrees(drawing, diagonal_twice);
  std::vector<bool> seen(drawing.vertices);
  std::vector<Vertex> order;
  while (order.size() < drawing.vertices) {
    std::deque<Vertex> queue{least_left(degrees, seen)};
    seen[queue.front()] = true;
    while (!queue.empty()) {
      const Vertex v = queue.front();
      queue.pop_front();
      order.push_back(v);
      std::set<std::pair<std::size_t, Vertex>> found;
      for (const Vertex u : neighbours[v])
        if (!seen[u]) found.insert(key_of(degrees, u));
      for (const auto& [degree, u] : found) {
        seen[u] = true;
        queue.push_back(u);
      }
    }
  }
  return order;
}

std::vector<Vertex> naive_chain(const Drawing& drawing, bool diagonal_twice) {
  const auto neighbours = naive_neighbours(drawing);
  const auto degrees = naive_degrees(drawing, diagonal_twice);
  std::vector<bool> in_chain(drawing.vertices);
  std::vector<Vertex> chain;
  while (chain.size() < drawing.vertices) {
    std::set<std::tuple<std::size_t, std::size_t, Vertex>> found;  // (distance, degree, index)
    if (!chain.empty()) {
      std::map<Vertex, std::size_t> distance{{chain.back(), 0}};
      std::deque<Vertex> queue{chain.back()};
      for (; !queue.empty(); queue.pop_front())
        for (const Vertex u : neighbours[queue.front()])
          if (!in_chain[u] && distance.emplace(u, distance[queue.front()] + 1).second) {
            found.emplace(distance[u], degrees[u], u);
            queue.push_back(u);
          }
    }
    chain.push_back(found.empty() ? least_left(degrees, in_chain) : std::get<2>(*found.begin()));
    in_chain[chain.back()] = true;
  }
  return chain;
}

std::vector<Vertex> naive_components(const Drawing& drawing) {
  std::vector<Vertex> component(drawing.vertices);
  std::iota(component.begin(), component.end(), Vertex{0});
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [a, b] : drawing.pairs) {
      if (component[a] == component[b]) continue;
      component[a] = component[b] = std::min(component[a], component[b]);
      changed = true;
    }
  }
  return component;
}

bool is_permutation_of(const std::vector<Vertex>& order, std::size_t vertices) {
  std::vector<Vertex> sorted = order, all(vertices);
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), Vertex{0});
  return sorted == all;
}

}  // namespace gcbs::testing
