// Counting where listing would take too much: rows above a value, bands around the paper's median.
#include "similarity/crowded.h"

#include <gtest/gtest.h>

#include "similarity/find_edges.h"
#include "support/matrices.h"

namespace gcbs {
namespace {

using namespace testing;

struct Joinable {
  Matrix x, y;
  RunContext run{2, nullptr, nullptr};
  Rows rows_x, rows_y;
  FinePrepared fine;
  CoarsePrepared coarse;
  std::vector<double> all;

  Joinable(const std::string& kind, std::size_t rows, std::size_t cols)
      : x(make_matrix(kind, rows, cols, 31)),
        y(make_matrix(kind, rows, cols, 32)),
        rows_x(x.view(), false, run),
        rows_y(y.view(), false, run),
        fine(prepare_fine(rows_x, rows_y, {}, {}, run)),
        coarse(prepare_coarse(fine, nullptr, kernel_for(choose_isa()), run)),
        all(all_similarities(x, y)) {}

  JoinInput input() const { return {rows_x, rows_y, fine, coarse, kernel_for(choose_isa())}; }
};

TEST(Crowded, RowsAreCountedByTheDefinition) {
  for (const std::string& kind : kinds_of_matrices()) {
    SCOPED_TRACE(kind);
    const Joinable j(kind, 133, 40);
    for (const double q : {0.0, 0.5, 0.97}) {
      const double t = quantile_of(j.all, q);
      const Array<std::uint64_t> counts = count_rows_above(j.input(), t, j.run);
      for (std::size_t i = 0; i < 133; ++i) {
        std::uint64_t expected = 0;
        for (std::size_t k = 0; k < 133; ++k) expected += j.all[i * 133 + k] > t;
        ASSERT_EQ(counts[i], expected) << "row " << i;
      }
    }
  }
}

TEST(Crowded, NarrowerBandsHoldThePapersMedian) {
  for (const std::string& kind : kinds_of_matrices())
    for (const std::size_t rows : {31u, 100u}) {
      SCOPED_TRACE(kind + " " + std::to_string(rows));
      const Joinable j(kind, rows, 40);
      for (const double q : {0.6, 0.95}) {
        const double t = paper_threshold(j.all, rows, rows, q);
        Band band{-1.1, 1.1};
        int narrowed = 0;
        while (const auto narrower = narrow_paper_band(j.input(), band, q, j.run)) {
          ASSERT_LT(narrower->high - narrower->low, band.high - band.low);
          band = *narrower;
          ASSERT_LT(band.low, t);
          ASSERT_GE(band.high, t);
          if (++narrowed == 20) break;
        }
        EXPECT_GE(narrowed, 1);
      }
    }
}

}  // namespace
}  // namespace gcbs
