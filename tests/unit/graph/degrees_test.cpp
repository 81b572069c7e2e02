#include "graph/degrees.h"

#include <gtest/gtest.h>

#include "graph/neighbours.h"
#include "support/graphs.h"

namespace gcbs {
namespace {

using testing::Drawing;

std::vector<std::size_t> degrees_of(const Drawing& drawing, DiagonalDegree diagonal, unsigned threads) {
  RunContext run;
  run.threads = threads;
  const Array<Vertex> degrees = count_degrees(testing::graph_of(drawing), diagonal, run);
  return {degrees.begin(), degrees.end()};
}

TEST(CountDegrees, CountsAnEdgeInBothDirectionsOnce) {
  const Drawing drawing{"drawn", 4, {{0, 1}, {1, 0}, {1, 2}}};
  EXPECT_EQ(degrees_of(drawing, DiagonalDegree::once, 1), (std::vector<std::size_t>{1, 2, 1, 0}));
}

TEST(CountDegrees, CountsADiagonalEntryOnceOrTwice) {
  const Drawing drawing{"drawn", 3, {{0, 0}, {0, 1}, {2, 2}}};
  EXPECT_EQ(degrees_of(drawing, DiagonalDegree::once, 1), (std::vector<std::size_t>{2, 1, 1}));
  EXPECT_EQ(degrees_of(drawing, DiagonalDegree::twice, 1), (std::vector<std::size_t>{3, 1, 2}));
}

TEST(CountDegrees, EqualsTheReferenceForEveryThreadCount) {
  auto drawings = testing::draw_many();
  drawings.push_back(testing::draw_skewed(5000, 4, 9));  // several pieces of work
  for (const Drawing& drawing : drawings)
    for (const unsigned threads : {1u, 2u, 3u, 7u}) {
      EXPECT_EQ(degrees_of(drawing, DiagonalDegree::once, threads), naive_degrees(drawing, false))
          << drawing.name;
      EXPECT_EQ(degrees_of(drawing, DiagonalDegree::twice, threads), naive_degrees(drawing, true))
          << drawing.name;
    }
}

}  // namespace
}  // namespace gcbs
