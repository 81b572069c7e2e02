// What is refused before work starts: sizes, options that do not fit them, memory.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "gcbs/graph.h"
#include "gcbs/matrix.h"
#include "gcbs/similarity.h"

namespace gcbs {

/// Pairs that can be cut into batches.
void check_shapes(const MatrixView& x, const MatrixView& y, std::size_t batch_size);

/// What errors call the order that pack starts from.
inline constexpr const char* kStartName = "the order to start from";

/// An order from outside as a permutation. Throws Error(input) that says what is wrong with it.
std::vector<Vertex> checked_order(const std::string& name, std::span<const std::int64_t> order,
                                  std::size_t rows);

/// The quantile asked for; by default a batch's worth of neighbours.
double resolve_quantile(const SimilarityOptions& options, std::size_t batch_size, std::size_t rows);

/// What a run up to its graph takes, as contract C6 allows: int8 and int16 operands, 4 bytes an edge and the
/// pairs near the threshold, or 8 bytes an edge, a little for every row.
double expected_graph_bytes(std::size_t rows, std::size_t cols, double quantile);

}  // namespace gcbs
