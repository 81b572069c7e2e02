// The neighbours of a vertex: two sorted lists met as one, made for hot loops.
#pragma once

#include "graph/graph.h"

namespace gcbs {

/// Calls visit(u) for each entry of the union of two ascending lists, ascending, duplicates once.
template <class Visit>
inline void for_each_merged(std::span<const Vertex> a, std::span<const Vertex> b, Visit&& visit) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const Vertex x = a[i], y = b[j];
    visit(x < y ? x : y);
    i += x <= y;
    j += y <= x;
  }
  for (; i < a.size(); ++i) visit(a[i]);
  for (; j < b.size(); ++j) visit(b[j]);
}

/// Calls visit(u) for each neighbour of v, ascending, each once; v itself where the diagonal is kept.
template <class Visit>
inline void for_each_neighbour(const Graph& graph, Vertex v, Visit&& visit) {
  for_each_merged(graph.out.row(v), graph.in.row(v), static_cast<Visit&&>(visit));
}

/// How many entries two ascending lists of distinct entries share.
inline std::size_t count_shared(std::span<const Vertex> a, std::span<const Vertex> b) noexcept {
  std::size_t i = 0, j = 0, shared = 0;
  while (i < a.size() && j < b.size()) {
    const Vertex x = a[i], y = b[j];
    shared += x == y;
    i += x <= y;
    j += y <= x;
  }
  return shared;
}

}  // namespace gcbs
