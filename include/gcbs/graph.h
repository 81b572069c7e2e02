// The kept negatives as a directed graph, and both directions of it for the orders.
#pragma once

#include <cstdint>
#include <span>

#include "gcbs/array.h"

namespace gcbs {

using Vertex = std::uint32_t;
using EdgeIndex = std::uint64_t;

/// Directed edges in compressed rows: the columns of row i, ascending and distinct, are
/// columns[offsets[i]] .. columns[offsets[i + 1] - 1]. offsets has rows + 1 entries. Move-only.
struct Edges {
  Array<EdgeIndex> offsets;
  Array<Vertex> columns;

  std::size_t rows() const noexcept { return offsets.empty() ? 0 : offsets.size() - 1; }
  EdgeIndex count() const noexcept { return columns.size(); }
  std::span<const Vertex> row(std::size_t i) const noexcept {
    return {columns.data() + offsets[i], static_cast<std::size_t>(offsets[i + 1] - offsets[i])};
  }
};

}  // namespace gcbs
