// Matrices that are awkward in one way each, and the float64 brute force they are checked against.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gcbs/graph.h"
#include "gcbs/matrix.h"

namespace gcbs::testing {

/// Owns float32 rows.
struct Matrix {
  std::size_t rows = 0, cols = 0;
  std::vector<float> values;

  MatrixView view(std::string name = "matrix") const { return view_of(values, rows, cols, std::move(name)); }
};

/// rand: uniform [0, 1). normal: centred. clustered: few centres plus noise. equal: all rows alike.
/// duplicates: a handful of distinct rows. spike: one huge component a row. tiny: denormals beside
/// ones. nearly: rows equal up to the last bit. onehot: similarities of 0 and 1 only.
std::vector<std::string> kinds_of_matrices();
Matrix make_matrix(const std::string& kind, std::size_t rows, std::size_t cols, std::uint64_t seed);

/// Contract C1 by the letter: normalised rows, then all s(i,j), row-major.
std::vector<double> all_similarities(const Matrix& x, const Matrix& y);

/// numpy.quantile(values, q), and the paper's median of 3-row quantiles.
double quantile_of(std::vector<double> values, double q);
double quantile_of_sorted(const std::vector<double>& values, double q);
double paper_threshold(const std::vector<double>& similarities, std::size_t rows, std::size_t cols, double q);

/// The pairs s > t, (row, column) ascending.
std::vector<std::pair<Vertex, Vertex>> edges_above(const std::vector<double>& similarities, std::size_t rows,
                                                   std::size_t cols, double t, bool keep_diagonal);
std::vector<std::pair<Vertex, Vertex>> listed(const Edges& edges);

}  // namespace gcbs::testing
