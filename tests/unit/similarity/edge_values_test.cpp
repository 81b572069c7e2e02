// The values of edges against the definition, one by one.
#include "similarity/edge_values.h"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "matrix/equal_rows.h"
#include "support/graphs.h"
#include "support/kernels.h"
#include "support/matrices.h"

namespace gcbs {
namespace {

using testing::Matrix;

/// Equal rows in one place, the places the other way round.
PlaceRows backwards(const Matrix& matrix, const RunContext& run) {
  PlaceRows places = group_equal_rows(first_equal_rows(matrix.view(), run), run);
  const std::size_t count = places.offsets.size() - 1;
  PlaceRows turned{Array<Vertex>(places.rows.size()), Array<Vertex>(count + 1), Array<Vertex>(matrix.rows)};
  Vertex* next = turned.rows.data();
  turned.offsets[0] = 0;
  for (std::size_t p = 0; p < count; ++p) {
    const std::size_t from = count - 1 - p;
    for (Vertex r = places.offsets[from]; r < places.offsets[from + 1]; ++r) {
      turned.place_of[places.rows[r]] = static_cast<Vertex>(p);
      *next++ = places.rows[r];
    }
    turned.offsets[p + 1] = static_cast<Vertex>(next - turned.rows.data());
  }
  return turned;
}

/// Near the definition, and the same bits for every kernel, thread count and order of places. Returns the
/// largest difference from s.
double expect_values(const Matrix& a, const Matrix& b, const Edges& edges) {
  const std::vector<double> all = testing::all_similarities(a, b);
  std::optional<std::vector<float>> wanted;
  double most = 0;
  for (const testing::NamedKernel& kernel : testing::runnable_kernels())
    for (const unsigned threads : {1u, 3u})
      for (const bool turned : {false, true}) {
        const RunContext run{threads, nullptr, nullptr};
        const Rows x(a.view(), false, run), y(b.view(), false, run);
        const FinePrepared fine = prepare_fine(x, y, turned ? backwards(a, run) : PlaceRows{},
                                               turned ? backwards(b, run) : PlaceRows{}, run);
        const Array<float> values = edge_values(fine, x, y, edges, *kernel.kernel, run);
        EXPECT_EQ(values.size(), edges.count());
        if (!wanted) wanted.emplace(values.begin(), values.end());
        EXPECT_EQ(std::vector<float>(values.begin(), values.end()), *wanted) << kernel.name;
      }
  for (std::size_t i = 0; i < edges.rows(); ++i)
    for (EdgeIndex e = edges.offsets[i]; e < edges.offsets[i + 1]; ++e)
      most = std::max(most, std::abs(static_cast<double>((*wanted)[e]) - all[i * b.rows + edges.columns[e]]));
  EXPECT_LE(most, kEdgeValueError);
  return most;
}

TEST(EdgeValues, AreNearTheDefinitionForEveryKindOfMatrix) {
  for (const std::string& kind : testing::kinds_of_matrices()) {
    SCOPED_TRACE(kind);
    for (const std::size_t rows : {std::size_t{2}, std::size_t{37}, std::size_t{150}})
      expect_values(testing::make_matrix(kind, rows, 19, 1), testing::make_matrix(kind, rows, 19, 2),
                    testing::edges_of(testing::draw_random(rows, 7, rows)));
  }
}

TEST(EdgeValues, OfHubsAndOfNoEdges) {
  const Matrix x = testing::make_matrix("normal", 90, 33, 3), y = testing::make_matrix("normal", 90, 33, 4);
  EXPECT_LT(expect_values(x, y, testing::edges_of(testing::draw_star(90))), 1e-4);
  EXPECT_LT(expect_values(x, y, testing::edges_of(testing::draw_skewed(90, 9, 5))), 1e-4);
  expect_values(x, y, testing::edges_of(testing::draw_empty(90)));
}

TEST(EdgeValues, OfRowsThatTheScaleHasMissed) {
  // The scale comes from rows at even distances: every 4th of 2,048. The others are spikes, clipped.
  Matrix x = testing::make_matrix("normal", 2048, 40, 5), y = testing::make_matrix("normal", 2048, 40, 6);
  for (std::size_t i = 0; i < 2048; ++i)
    if (i % 4 == 1) x.values[i * 40 + i % 40] = y.values[i * 40 + i % 40] = 300;
  const RunContext run;
  const Rows rows_x(x.view(), false, run), rows_y(y.view(), false, run);
  const FinePrepared fine = prepare_fine(rows_x, rows_y, {}, {}, run);
  ASSERT_GT(static_cast<double>(*std::max_element(fine.x.error.begin(), fine.x.error.end())), 0.1)
      << "some row is clipped";
  EXPECT_LT(expect_values(x, y, testing::edges_of(testing::draw_random(2048, 12, 7))), 1e-4);
}

}  // namespace
}  // namespace gcbs
