// The quick judge against contract C10 by the letter, pair by pair.
#include "similarity/quick_judge.h"

#include <gtest/gtest.h>

#include "support/filters.h"
#include "support/kernels.h"

namespace gcbs {
namespace {

using testing::Matrix;

void expect_contract(const FilterOptions& options, const Matrix& x, const Matrix& y, const Matrix* guide_x,
                     const Matrix* guide_y) {
  const testing::FilterReference reference(options, x, y, guide_x, guide_y);
  const RunContext run;
  const Rows rows_x(x.view(), false, run), rows_y(y.view(), false, run);
  const PairJudge judge(options, rows_x, rows_y, run);
  const FinePrepared fine = prepare_fine(rows_x, rows_y, {}, {}, run);
  for (const testing::NamedKernel& kernel : testing::runnable_kernels())
    for (const FinePrepared* given : {&fine, static_cast<const FinePrepared*>(nullptr)}) {
      const QuickJudge quick(judge, given, rows_x, rows_y, *kernel.kernel, run);
      for (Vertex i = 0; i < x.rows; ++i) {
        std::vector<Vertex> before, admitted;
        bool all_before = true;
        for (Vertex j = 0; j < x.rows; ++j) {
          if (i == j) continue;
          const bool admits = reference.admits(i, j);
          ASSERT_EQ(quick.fits(i, {&j, 1}), admits) << kernel.name << " " << i << " " << j;
          ASSERT_EQ(quick.is_suspect(i, j), judge.is_suspect(i, j)) << kernel.name << " " << i << " " << j;
          before.push_back(j);
          all_before = all_before && admits;
          ASSERT_EQ(quick.fits(i, before), all_before) << kernel.name << " " << i << " up to " << j;
          if (admits) admitted.push_back(j);
        }
        ASSERT_TRUE(quick.fits(i, admitted)) << kernel.name << " " << i;
      }
    }
}

TEST(QuickJudge, DecidesAsTheContractSays) {
  std::vector<std::string> kinds = testing::kinds_of_matrices();
  if (testing::kSlowBuild) kinds = {"normal", "duplicates"};
  for (const std::string& kind : kinds) {
    SCOPED_TRACE(kind);
    const std::size_t n = 30;
    const Matrix x = testing::make_matrix(kind, n, 12, 1), y = testing::make_matrix(kind, n, 12, 2);
    const Matrix guide_x = testing::make_matrix("normal", n, 7, 3),
                 guide_y = testing::make_matrix(kind, n, 7, 4);
    FilterOptions options;
    options.groups = {std::vector<std::int64_t>(n)};
    for (std::size_t i = 0; i < n; ++i) options.groups[0][i] = static_cast<std::int64_t>(i % 9);
    expect_contract(options, x, y, nullptr, nullptr);
    options.relative_margin = 0.1;
    options.duplicates = true;
    expect_contract(options, x, y, nullptr, nullptr);
    options.symmetric = true;
    expect_contract(options, x, y, nullptr, nullptr);
    options.guide_x = guide_x.view();
    options.guide_y = guide_y.view();
    expect_contract(options, x, y, &guide_x, &guide_y);
  }
}

}  // namespace
}  // namespace gcbs
