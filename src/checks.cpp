#include "checks.h"

#include <algorithm>
#include <limits>
#include <string>

#include "gcbs/error.h"
#include "similarity/find_edges.h"
#include "similarity/tile_scan.h"

namespace gcbs {

void check_shapes(const MatrixView& x, const MatrixView& y, std::size_t batch_size) {
  if (batch_size < 2)
    throw Error(ErrorKind::usage, "a batch of " + std::to_string(batch_size) + " has no negatives",
                "every sample is contrasted with the others of its batch", "use a batch size of 2 or more");
  const auto shape = [](const MatrixView& m) {
    return m.name + " is " + std::to_string(m.rows) + " x " + std::to_string(m.cols);
  };
  if (x.rows != y.rows || x.cols != y.cols)
    throw Error(ErrorKind::input, "the two matrices differ in shape", shape(x) + ", " + shape(y),
                "row i of both must be the two sides of pair i");
  if (x.rows < 2 || x.cols < 1)
    throw Error(ErrorKind::input, "too little data", shape(x), "at least 2 rows and 1 column are needed");
  if (x.rows > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorKind::unsupported, "too many rows", shape(x), "at most 2^31 - 1 can be ordered");
  if (batch_size > x.rows)
    throw Error(ErrorKind::input, "a batch of " + std::to_string(batch_size) + " is larger than the data",
                shape(x), "use a batch size of at most " + std::to_string(x.rows));
}

std::vector<Vertex> checked_order(const std::string& name, std::span<const std::int64_t> order,
                                  std::size_t rows) {
  const auto wrong = [&](const std::string& problem, const std::string& reason) {
    return Error(ErrorKind::input, name + " is no order of these rows: " + problem, reason,
                 "give every row from 0 to " + std::to_string(rows - 1) + " exactly once");
  };
  if (order.size() != rows)
    throw wrong("it has " + std::to_string(order.size()) + " entries",
                "the data has " + std::to_string(rows) + " rows");
  std::vector<Vertex> result(rows);
  std::vector<std::int64_t> place(rows, -1);
  for (std::size_t p = 0; p < rows; ++p) {
    const std::int64_t row = order[p];
    const std::string at = "position " + std::to_string(p) + " has row " + std::to_string(row);
    if (row < 0 || row >= static_cast<std::int64_t>(rows)) throw wrong("an entry is out of range", at);
    std::int64_t& before = place[static_cast<std::size_t>(row)];
    if (before >= 0) throw wrong("a row comes twice", at + ", and so has position " + std::to_string(before));
    before = static_cast<std::int64_t>(p);
    result[p] = static_cast<Vertex>(row);
  }
  return result;
}

double resolve_quantile(const SimilarityOptions& options, std::size_t batch_size, std::size_t rows) {
  if (options.quantile) {
    if (!(*options.quantile >= 0 && *options.quantile < 1))
      throw Error(ErrorKind::usage, "quantile " + std::to_string(*options.quantile) + " is out of range",
                  "it is the share of values to drop", "use a value of at least 0 and below 1");
    return *options.quantile;
  }
  const double neighbours = options.neighbours.value_or(static_cast<double>(batch_size));
  if (!(neighbours > 0))
    throw Error(ErrorKind::usage, std::to_string(neighbours) + " neighbours a row make no graph", {},
                "use a number above 0");
  const double quantile = 1 - neighbours / static_cast<double>(rows);
  if (quantile < 0)
    throw Error(ErrorKind::input,
                std::to_string(neighbours) + " neighbours a row are more than there are rows",
                std::to_string(rows) + " rows", "use at most " + std::to_string(rows));
  return quantile;
}

double expected_graph_bytes(std::size_t rows, std::size_t cols, double quantile) {
  const auto n = static_cast<double>(rows);
  const double operands = 2 * operand_bytes(rows, cols);
  const double edges = (1 - quantile) * n * n;
  return std::max(operands + 4.5 * edges + expected_band_bytes(quantile, rows), 8.0 * edges) + 200 * n + 32e6;
}

}  // namespace gcbs
