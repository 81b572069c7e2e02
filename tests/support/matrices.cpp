#include "support/matrices.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace gcbs::testing {
namespace {

double uniform(Random& random) { return static_cast<double>(random.next() >> 11) * 0x1p-53; }

double normal(Random& random) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += uniform(random);
  return sum - 6;
}

}  // namespace

std::vector<std::string> kinds_of_matrices() {
  return {"rand", "normal", "clustered", "equal", "duplicates", "spike", "tiny", "nearly", "onehot"};
}

Matrix make_matrix(const std::string& kind, std::size_t rows, std::size_t cols, std::uint64_t seed) {
  Matrix m{rows, cols, std::vector<float>(rows * cols)};
  Random random(seed * 1000003 + rows * 31 + cols), shared(77 + cols);
  std::vector<double> centres(8 * cols);
  for (double& value : centres) value = normal(shared);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t centre = random.below(8);
    for (std::size_t k = 0; k < cols; ++k) {
      double value = normal(random);
      if (kind == "rand") value = uniform(random) + 1e-9;
      if (kind == "clustered") value = centres[centre * cols + k] + 0.3 * value;
      if (kind == "equal") value = centres[k] + 0.1;
      if (kind == "duplicates") value = centres[centre * cols + k];
      if (kind == "spike") value = k == random.below(cols) ? 1e6 : value;
      if (kind == "tiny") value = k == 0 ? 1.0 : value * 1e-40;
      if (kind == "nearly") value = centres[k] * (1 + 0x1p-23 * static_cast<double>(random.below(3)));
      if (kind == "onehot") value = k == centre % cols ? 1.0 : 0.0;
      m.values[i * cols + k] = static_cast<float>(value);
    }
    if (cols == 1 && m.values[i] == 0) m.values[i] = 1;
  }
  return m;
}

std::vector<double> all_similarities(const Matrix& x, const Matrix& y) {
  const auto normalised = [](const Matrix& m) {
    std::vector<float> out(m.values.size());
    for (std::size_t i = 0; i < m.rows; ++i) {
      double square = 0;
      for (std::size_t k = 0; k < m.cols; ++k) {
        const auto value = static_cast<double>(m.values[i * m.cols + k]);
        square += value * value;
      }
      const double norm = std::sqrt(square);
      for (std::size_t k = 0; k < m.cols; ++k)
        out[i * m.cols + k] = static_cast<float>(static_cast<double>(m.values[i * m.cols + k]) / norm);
    }
    return out;
  };
  const std::vector<float> a = normalised(x), b = normalised(y);
  std::vector<double> all(x.rows * y.rows);
  for (std::size_t i = 0; i < x.rows; ++i)
    for (std::size_t j = 0; j < y.rows; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < x.cols; ++k)
        sum += static_cast<double>(a[i * x.cols + k]) * static_cast<double>(b[j * x.cols + k]);
      all[i * y.rows + j] = sum;
    }
  return all;
}

double quantile_of(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return quantile_of_sorted(values, q);
}

double quantile_of_sorted(const std::vector<double>& values, double q) {
  const double position = q * static_cast<double>(values.size() - 1);
  const auto index = static_cast<std::size_t>(std::floor(position));
  const double fraction = position - std::floor(position);
  const double lower = values[index], upper = values[std::min(index + 1, values.size() - 1)];
  const double difference = upper - lower;
  return fraction >= 0.5 ? upper - difference * (1 - fraction) : lower + difference * fraction;
}

double paper_threshold(const std::vector<double>& similarities, std::size_t rows, std::size_t cols,
                       double q) {
  std::vector<double> quantiles;
  for (std::size_t i = 0; i < rows; i += 3) {
    const auto begin = similarities.begin() + static_cast<std::ptrdiff_t>(i * cols);
    const auto end = similarities.begin() + static_cast<std::ptrdiff_t>(std::min(rows, i + 3) * cols);
    quantiles.push_back(quantile_of({begin, end}, q));
  }
  std::sort(quantiles.begin(), quantiles.end());
  const std::size_t n = quantiles.size();
  return n % 2 == 1 ? quantiles[n / 2] : (quantiles[n / 2 - 1] + quantiles[n / 2]) / 2;
}

std::vector<std::pair<Vertex, Vertex>> edges_above(const std::vector<double>& similarities, std::size_t rows,
                                                   std::size_t cols, double t, bool keep_diagonal) {
  std::vector<std::pair<Vertex, Vertex>> edges;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < cols; ++j)
      if (similarities[i * cols + j] > t && (keep_diagonal || i != j))
        edges.emplace_back(static_cast<Vertex>(i), static_cast<Vertex>(j));
  return edges;
}

std::vector<std::pair<Vertex, Vertex>> listed(const Edges& edges) {
  std::vector<std::pair<Vertex, Vertex>> out;
  for (std::size_t i = 0; i < edges.rows(); ++i)
    for (const Vertex j : edges.row(i)) out.emplace_back(static_cast<Vertex>(i), j);
  return out;
}

}  // namespace gcbs::testing
