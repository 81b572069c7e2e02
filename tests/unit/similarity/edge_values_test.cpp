// The values of edges against the definition, one by one.
#include "similarity/edge_values.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/graphs.h"
#include "support/matrices.h"

namespace gcbs {
namespace {

using testing::Matrix;

/// Every bit of every value, for all thread counts and stripes down to a quarter of the rows.
void expect_definition(const Matrix& a, const Matrix& b, const Edges& edges) {
  const std::vector<double> all = testing::all_similarities(a, b);
  for (const unsigned threads : {1u, 3u}) {
    for (const std::size_t stripe_bytes : {std::size_t{1}, std::size_t{1000}, kStripeBytes}) {
      const RunContext run{threads, nullptr, nullptr};
      const MatrixView view_x = a.view(), view_y = b.view();
      const Rows x(view_x, false, run), y(view_y, false, run);
      const Array<float> values = edge_values(x, y, edges, run, stripe_bytes);
      ASSERT_EQ(values.size(), edges.count());
      for (std::size_t i = 0; i < edges.rows(); ++i)
        for (EdgeIndex e = edges.offsets[i]; e < edges.offsets[i + 1]; ++e)
          ASSERT_EQ(values[e], static_cast<float>(all[i * b.rows + edges.columns[e]]))
              << i << " " << edges.columns[e] << " stripe " << stripe_bytes;
    }
  }
}

TEST(EdgeValues, AreTheDefinitionForEveryKindOfMatrix) {
  for (const std::string& kind : testing::kinds_of_matrices()) {
    SCOPED_TRACE(kind);
    for (const std::size_t rows : {std::size_t{2}, std::size_t{37}, std::size_t{150}})
      expect_definition(testing::make_matrix(kind, rows, 19, 1), testing::make_matrix(kind, rows, 19, 2),
                        testing::edges_of(testing::draw_random(rows, 7, rows)));
  }
}

TEST(EdgeValues, OfHubsAndOfNoEdges) {
  const Matrix x = testing::make_matrix("normal", 90, 33, 3), y = testing::make_matrix("normal", 90, 33, 4);
  expect_definition(x, y, testing::edges_of(testing::draw_star(90)));
  expect_definition(x, y, testing::edges_of(testing::draw_skewed(90, 9, 5)));
  expect_definition(x, y, testing::edges_of(testing::draw_empty(90)));
}

}  // namespace
}  // namespace gcbs
