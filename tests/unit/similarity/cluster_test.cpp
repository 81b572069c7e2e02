// Cluster order: a permutation that brings together what points the same way, and operands that follow it.
#include "similarity/cluster.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "support/matrices.h"

namespace gcbs {
namespace {

using namespace testing;

struct Ordered {
  Matrix x, y;
  RunContext run{2, nullptr, nullptr};
  Rows rows_x, rows_y;
  FinePrepared fine;
  Head head;

  Ordered(const Matrix& of_x, const Matrix& of_y)
      : x(of_x),
        y(of_y),
        rows_x(x.view(), false, run),
        rows_y(y.view(), false, run),
        fine(prepare_fine(rows_x, rows_y, {}, {}, run)),
        head(make_head(leading_directions(fine, 32, kScalarKernel, run), 32, 32, kScalarKernel)) {}
};

bool is_permutation(const Array<Vertex>& ids) {
  std::vector<Vertex> sorted(ids.begin(), ids.end()), all(ids.size());
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), Vertex{0});
  return sorted == all;
}

TEST(ClusterOrder, IsAPermutationOfEitherSide) {
  for (const std::string& kind : kinds_of_matrices())
    for (const std::size_t rows : {2u, 65u, 700u}) {
      SCOPED_TRACE(kind + " " + std::to_string(rows));
      const Ordered o(make_matrix(kind, rows, 40, 1), make_matrix(kind, rows, 40, 2));
      const PlaceOrder order = cluster_order(o.fine, o.head, kScalarKernel, o.run);
      EXPECT_TRUE(is_permutation(order.x));
      EXPECT_TRUE(is_permutation(order.y));
    }
}

TEST(ClusterOrder, BringsClustersTogether) {
  // Row i belongs to cluster i mod 10: scattered at first, together afterwards.
  constexpr std::size_t kRows = 2000, kCols = 48, kClusters = 10;
  const Matrix noise = make_matrix("rand", kRows, kCols, 3);
  Matrix x = noise;
  for (std::size_t i = 0; i < kRows; ++i)
    for (std::size_t k = 0; k < kCols; ++k)
      x.values[i * kCols + k] = 0.2f * noise.values[i * kCols + k] + (k == i % kClusters ? 3.0f : 0.0f);
  const Ordered o(x, x);
  const PlaceOrder order = cluster_order(o.fine, o.head, kScalarKernel, o.run);
  std::size_t changes = 0;
  for (std::size_t p = 1; p < kRows; ++p) changes += order.x[p] % kClusters != order.x[p - 1] % kClusters;
  EXPECT_LT(changes, 3 * kClusters);
}

TEST(ClusterOrder, OperandsFollow) {
  Ordered o(make_matrix("clustered", 301, 40, 1), make_matrix("clustered", 301, 40, 2));
  const FinePrepared before = prepare_fine(o.rows_x, o.rows_y, {}, {}, o.run);
  reorder(o.fine, cluster_order(o.fine, o.head, kScalarKernel, o.run), o.run);
  for (std::size_t p = 0; p < 301; ++p) {
    const std::size_t i = o.fine.x.places.first(p), j = o.fine.y.places.first(p);
    ASSERT_EQ(o.fine.x.places.place(i), p);
    ASSERT_TRUE(std::equal(o.fine.x.row(p), o.fine.x.row(p) + o.fine.x.stride, before.x.row(i)));
    ASSERT_TRUE(std::equal(o.fine.y.row(p), o.fine.y.row(p) + o.fine.y.stride, before.y.row(j)));
    ASSERT_EQ(o.fine.x.offset[p], before.x.offset[i]);
    ASSERT_EQ(o.fine.y.error[p], before.y.error[j]);
    ASSERT_EQ(o.fine.y.norm[p], before.y.norm[j]);
  }
}

}  // namespace
}  // namespace gcbs
