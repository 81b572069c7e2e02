// Tiny graphs drawn by hand, random ones of many shapes, and naive references, written for clarity.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gcbs/graph.h"
#include "gcbs/ordering.h"
#include "graph/graph.h"

namespace gcbs::testing {

/// Directed entries (row, column) in any order, repeats allowed.
using Pairs = std::vector<std::pair<Vertex, Vertex>>;

/// A graph as a test names it.
struct Drawing {
  std::string name;
  std::size_t vertices = 0;
  Pairs pairs;
};

Edges edges_of(std::size_t vertices, Pairs pairs);
inline Edges edges_of(const Drawing& drawing) { return edges_of(drawing.vertices, drawing.pairs); }
Graph graph_of(const Drawing& drawing, unsigned threads = 1);

Drawing draw_empty(std::size_t vertices);
Drawing draw_path(std::size_t vertices);
/// Vertex 0 -> every other one.
Drawing draw_star(std::size_t vertices);
/// Vertices 0 and 1 -> every other one, and 0 -> 1.
Drawing draw_two_hubs(std::size_t vertices);
Drawing draw_grid(std::size_t width, std::size_t height);
/// Complete graphs of these sizes, side by side, every entry in both directions.
Drawing draw_cliques(const std::vector<std::size_t>& sizes);
/// `mean_row` entries a row on average, anywhere, the diagonal included.
Drawing draw_random(std::size_t vertices, double mean_row, std::uint64_t seed);
/// As draw_random within groups of random size, and a few vertices without an entry.
Drawing draw_islands(std::size_t vertices, double mean_row, std::uint64_t seed);
/// Columns near zero are far likelier than others: a few hubs, many leaves.
Drawing draw_skewed(std::size_t vertices, double mean_row, std::uint64_t seed);

/// All of the above in sizes that a quadratic reference can follow.
std::vector<Drawing> draw_many();

/// The union of both directions, the diagonal included.
std::vector<std::set<Vertex>> naive_neighbours(const Drawing& drawing);
std::vector<std::size_t> naive_degrees(const Drawing& drawing, bool diagonal_twice = false);
std::vector<Vertex> naive_cm(const Drawing& drawing, bool diagonal_twice = false);
/// Algorithm 1 as printed: a whole breadth first search for every vertex. Cubic at worst.
std::vector<Vertex> naive_chain(const Drawing& drawing, bool diagonal_twice = false);
/// [vertex]: the least vertex of its component.
std::vector<Vertex> naive_components(const Drawing& drawing);

bool is_permutation_of(const std::vector<Vertex>& order, std::size_t vertices);

}  // namespace gcbs::testing
