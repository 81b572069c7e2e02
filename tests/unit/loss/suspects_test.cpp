// Suspects block by block against contract C10 asked pair by pair: with a table and with int16 products,
// limits that are similarities themselves, pairs that only one of their two similarities gives away.
#include "loss/suspects.h"

#include <gtest/gtest.h>

#include "unit/loss/brute_force.h"

namespace gcbs {
namespace {

using namespace testing;

constexpr std::size_t kTile = 64;

class SuspectBlocks : public ::testing::TestWithParam<NamedKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, SuspectBlocks, ::testing::ValuesIn(runnable_kernels()),
                         [](const auto& kernel) { return kernel.param.name; });

/// Compares all blocks of a batch in bands of 96 rows. Returns how many were suspect.
std::size_t expect_judged(const LossPart& part, const FilterOptions& filter, const std::vector<double>& all,
                          std::span<const Vertex> members, const Kernel& kernel, const RunContext& run) {
  const std::size_t n = part.count();
  Array<double> positives(n);
  for (std::size_t i = 0; i < n; ++i) positives[i] = all[i * n + i];
  FilterOptions margins = filter;
  margins.groups.clear();
  const Admissible admissible = make_admissible(margins, positives, run);
  const JudgedPart judged{&part, true};
  Suspects suspects({&judged, 1}, admissible, kernel, 96, kTile, run);
  std::size_t found = 0;
  for (std::size_t first = 0; first < members.size(); first += 96) {
    const BatchBand band{members, first, std::min<std::size_t>(96, members.size() - first)};
    suspects.take_rows(band);
    for (std::size_t column = 0; column < members.size(); column += kTile) {
      const auto tile = members.subspan(column, std::min(kTile, members.size() - column));
      suspects.take_columns(tile);
      for (std::size_t panel = 0; panel * 16 < tile.size(); ++panel)
        for (std::size_t row = 0; row < band.count; row += kDenseRows) {
          const auto columns = tile.subspan(panel * 16, std::min<std::size_t>(16, tile.size() - panel * 16));
          const std::size_t rows = std::min(kDenseRows, band.count - row);
          std::vector<std::uint16_t> excluded(rows, 0x8000);  // what is set stays set
          suspects.judge(band, row, rows, panel, columns, excluded.data());
          for (std::size_t r = 0; r < rows; ++r)
            for (std::size_t c = 0; c < 16; ++c) {
              const Vertex i = band.row(row + r);
              const bool suspect =
                  c < columns.size() && i != columns[c] && !admits(margins, all, n, i, columns[c]);
              found += suspect;
              EXPECT_EQ((excluded[r] >> c & 1) != 0, suspect || c == 15)
                  << i << " " << (c < columns.size() ? columns[c] : 0);
              if (::testing::Test::HasFailure()) return found;
            }
        }
    }
  }
  return found;
}

TEST_P(SuspectBlocks, AreThoseOfTheDefinition) {
  const KernelOnThread ready(*GetParam().kernel);
  constexpr std::size_t kRows = kSlowBuild ? 120 : 150;
  for (const std::string& kind : kinds_of_matrices()) {
    if (kSlowBuild && kind != "clustered" && kind != "nearly" && kind != "duplicates") continue;
    const Data data(kind, kRows, 24);
    const std::vector<double> all = all_similarities(data.x, data.y);
    for (const bool table : {true, false}) {
      const LossPart part = make_part(data.rows_x, data.rows_y, true, table ? kRows : 0, data.run);
      for (const auto& [name, filter] : many_filters(kRows, all)) {
        if (!filter.has_margins()) continue;
        SCOPED_TRACE(kind + ", " + name + (table ? ", table" : ", dense"));
        const std::vector<Vertex> order = shuffled(kRows, 3);
        for (const std::size_t size : {std::size_t{1}, std::size_t{17}, kRows})
          expect_judged(part, filter, all, std::span(order).first(size), *GetParam().kernel, data.run);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Suspects, AtTheLimitAreNoneAndOneSideIsEnough) {
  const Data data("normal", 60, 12);
  const std::vector<double> all = all_similarities(data.x, data.y);
  const std::vector<Vertex> order = in_order(60);
  for (const std::size_t largest_table : {60u, 0u}) {
    const LossPart part = make_part(data.rows_x, data.rows_y, true, largest_table, data.run);
    std::size_t one_sided = 0, before = 0;
    for (const std::size_t at : {7u, 1000u, 1777u, 3001u}) {
      FilterOptions filter;
      filter.max_score = all[at];
      const std::size_t i = at / 60, j = at % 60;
      const std::size_t found = expect_judged(part, filter, all, order, kScalarKernel, data.run);
      // A hair below the value takes its pair, both ways, unless its other side already did.
      filter.max_score = std::nextafter(all[at], -2.0);
      before = expect_judged(part, filter, all, order, kScalarKernel, data.run);
      EXPECT_EQ(before, found + (all[j * 60 + i] > all[at] ? 0 : 2));
      for (std::size_t r = 0; r < 60; ++r)
        for (std::size_t c = 0; c < 60; ++c)
          one_sided += all[r * 60 + c] > all[at] && all[c * 60 + r] < all[at];
    }
    EXPECT_GT(one_sided, 0u);
  }
}

}  // namespace
}  // namespace gcbs
