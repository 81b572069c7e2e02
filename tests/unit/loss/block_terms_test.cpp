// Sums over the pairs of a batch against the brute force: parts with and without pairs, filters, batches of
// any size and order, several bands, tables and int16 products, every kernel and stand-in.
#include "loss/block_terms.h"

#include <gtest/gtest.h>

#include <bit>

#include "gcbs/error.h"
#include "unit/loss/brute_force.h"

namespace gcbs {
namespace {

using namespace testing;

/// Values that count, by place in the batch.
struct Expected {
  std::vector<Seen> rows, cols;
};

Expected expected_of(const std::vector<double>& all, const std::vector<double>& pairs, std::size_t n,
                     bool paired, const FilterOptions& filter, std::span<const Vertex> members) {
  Expected out{std::vector<Seen>(members.size()), std::vector<Seen>(members.size())};
  for (std::size_t r = 0; r < members.size(); ++r)
    for (std::size_t c = 0; c < members.size(); ++c) {
      if (paired && !admits(filter, pairs, n, members[r], members[c])) continue;
      out.rows[r].values.push_back(all[members[r] * n + members[c]]);
      out.cols[c].values.push_back(all[members[r] * n + members[c]]);
    }
  return out;
}

/// What sums() and terms() give for a whole batch, band by band.
struct Found {
  std::vector<Terms> row_terms, col_terms;
  std::vector<double> rows, cols, row_most, col_most;
  std::vector<std::uint32_t> row_count, col_count;
};

Found run_terms(BlockTerms& terms, std::span<const Vertex> members) {
  const std::size_t size = members.size();
  Found found;
  found.row_terms.resize(size);
  found.col_terms.resize(size);
  for (std::size_t first = 0; first < size; first += band_rows(size))
    terms.terms({members, first, std::min(band_rows(size), size - first)}, found.row_terms.data() + first,
                found.col_terms.data());
  return found;
}

Found run_sums(BlockTerms& terms, std::span<const Vertex> members, bool all) {
  const std::size_t size = members.size();
  Found found;
  found.rows.assign(size, -1);  // rows are set, columns added to
  found.cols.assign(size, 0);
  found.row_most.assign(size, -1);
  found.col_most.assign(size, 0);
  found.row_count.assign(size, 77);
  found.col_count.assign(size, 0);
  for (std::size_t first = 0; first < size; first += band_rows(size))
    terms.sums({members, first, std::min(band_rows(size), size - first)},
               {found.rows.data() + first, found.cols.data(), all ? found.row_most.data() + first : nullptr,
                all ? found.col_most.data() : nullptr, all ? found.row_count.data() + first : nullptr,
                all ? found.col_count.data() : nullptr});
  return found;
}

void expect_terms(const Terms& terms, const Seen& seen, double temperature, double bound) {
  ASSERT_EQ(terms.count, seen.values.size());
  if (seen.values.empty()) {
    ASSERT_EQ(terms.exponentials.value(), -kInfinity);
    ASSERT_EQ(terms.least, kInfinity);
    ASSERT_EQ(terms.most, -kInfinity);
    ASSERT_EQ(terms.total, 0);
    return;
  }
  const auto count = static_cast<double>(seen.values.size());
  ASSERT_NEAR(terms.least, seen.least(), bound);
  ASSERT_NEAR(terms.most, seen.most(), bound);
  ASSERT_NEAR(terms.total, seen.total(), bound * count + 1e-15 * count * count);
  ASSERT_NEAR(terms.exponentials.value(), seen.log_sum(temperature),
              bound / temperature + 1e-14 * (10 + 1 / temperature));
}

void expect_sum(double sum, double most, std::uint32_t count, const Seen& seen, double unit,
                double temperature, double bound) {
  ASSERT_EQ(count, seen.values.size());
  if (seen.values.empty()) {
    ASSERT_EQ(sum, 0);
    ASSERT_EQ(most, 0);
    return;
  }
  const double allowed = bound / temperature + 1e-5;
  ASSERT_NEAR(std::log(sum) + unit, seen.log_sum(temperature), allowed);
  ASSERT_NEAR(std::log(most) + unit, seen.most() / temperature, allowed);
}

void expect_batch(BlockTerms& terms, const LossPart& part, std::span<const Vertex> members,
                  const Expected& expected, double temperature) {
  const Found slow = run_terms(terms, members);
  for (std::size_t r = 0; r < members.size(); ++r) {
    expect_terms(slow.row_terms[r], expected.rows[r], temperature, part.worst_bound());
    expect_terms(slow.col_terms[r], expected.cols[r], temperature, part.worst_bound());
    if (::testing::Test::HasFatalFailure()) return;
  }
  if (!terms.is_fast()) return;
  const Found sums = run_sums(terms, members, true), only = run_sums(terms, members, false);
  for (std::size_t r = 0; r < members.size(); ++r) {
    expect_sum(sums.rows[r], sums.row_most[r], sums.row_count[r], expected.rows[r], terms.unit(), temperature,
               part.worst_bound());
    expect_sum(sums.cols[r], sums.col_most[r], sums.col_count[r], expected.cols[r], terms.unit(), temperature,
               part.worst_bound());
    ASSERT_EQ(std::bit_cast<std::uint64_t>(sums.rows[r]), std::bit_cast<std::uint64_t>(only.rows[r]));
    ASSERT_EQ(std::bit_cast<std::uint64_t>(sums.cols[r]), std::bit_cast<std::uint64_t>(only.cols[r]));
    ASSERT_EQ(only.row_count[r], 77u);  // not asked for
    if (::testing::Test::HasFatalFailure()) return;
  }
}

class BlockSums : public ::testing::TestWithParam<NamedKernel> {};
INSTANTIATE_TEST_SUITE_P(Kernels, BlockSums, ::testing::ValuesIn(runnable_kernels()),
                         [](const auto& kernel) { return kernel.param.name; });

TEST_P(BlockSums, AreThoseOfTheBruteForce) {
  const Kernel& kernel = *GetParam().kernel;
  const KernelOnThread ready(kernel);
  constexpr std::size_t kRows = 131;
  for (const char* kind : {"clustered", "nearly", "normal", "onehot"}) {
    if ((kSlowBuild || kernel.dense_layout == DenseLayout::digits) && kind != std::string("clustered"))
      continue;
    const Data data(kind, kRows, 33);
    const std::vector<double> pairs = all_similarities(data.x, data.y),
                              free = all_similarities(data.x, data.z);
    for (const std::size_t largest_table : {kRows, std::size_t{0}}) {
      const LossPart part = make_part(data.rows_x, data.rows_y, true, largest_table, data.run);
      const LossPart other = make_part(data.rows_x, data.rows_z, false, largest_table, data.run);
      for (const auto& [name, filter] : many_filters(kRows, pairs)) {
        if (kSlowBuild && name != "none" && name != "two lists" && name != "all") continue;
        SCOPED_TRACE(std::string(kind) + ", " + name + (largest_table != 0 ? ", table" : ", dense"));
        Array<double> positives(kRows);
        for (std::size_t i = 0; i < kRows; ++i) positives[i] = pairs[i * kRows + i];
        const Admissible admissible = make_admissible(filter, positives, data.run);
        const double temperature = name == "none" ? 0.0125 : 0.07;
        const JudgedPart both{&part, true};
        const std::span<const JudgedPart> judged(&both, 1);
        BlockTerms paired(part, judged, admissible, temperature, kernel, kRows, data.run);
        BlockTerms unpaired(other, judged, admissible, temperature, kernel, kRows, data.run);
        EXPECT_EQ(paired.is_fast(), largest_table == 0);
        // Down and up again: nothing of a larger batch may stay.
        const std::vector<Vertex> order = shuffled(kRows, 7);
        for (const std::size_t size : {kRows, std::size_t{1}, std::size_t{49}, std::size_t{65}}) {
          SCOPED_TRACE(size);
          const auto members = std::span(order).last(size);
          expect_batch(paired, part, members, expected_of(pairs, pairs, kRows, true, filter, members),
                       temperature);
          if (HasFatalFailure()) return;
          if (name != "none" && name != "all") continue;
          expect_batch(unpaired, other, members, expected_of(free, pairs, kRows, false, filter, members),
                       temperature);
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(BlockTerms, SeveralBandsAreOneBatch) {
  EXPECT_EQ(band_rows(1), 768u);
  EXPECT_EQ(band_rows(768 * 96), 768u);
  EXPECT_EQ(band_rows(768 * 96 + 1), 816u);
  const Kernel& kernel = kernel_for(choose_isa());
  const KernelOnThread ready(kernel);
  const std::size_t rows = kSlowBuild ? 800 : 1100;
  const Data data("clustered", rows, 9, 2);
  const std::vector<double> pairs = all_similarities(data.x, data.y);
  FilterOptions groups, margins;
  groups.groups = {random_ids(rows, 50, 1), random_ids(rows, 900, 2)};
  margins.absolute_margin = -0.125;
  const LossPart part = make_part(data.rows_x, data.rows_y, true, 0, data.run);
  Array<double> positives(rows);
  for (std::size_t i = 0; i < rows; ++i) positives[i] = pairs[i * rows + i];
  const std::vector<Vertex> order = shuffled(rows, 8);
  for (const FilterOptions& filter : {FilterOptions{}, groups, margins}) {
    SCOPED_TRACE(filter.has_margins() ? "margins" : filter.groups.empty() ? "none" : "groups");
    const Admissible admissible = make_admissible(filter, positives, data.run);
    const JudgedPart both{&part, true};
    const std::span<const JudgedPart> judged(&both, 1);
    BlockTerms terms(part, judged, admissible, 0.05, kernel, rows, data.run);
    for (const std::size_t size : {std::size_t{769}, rows}) {
      SCOPED_TRACE(size);
      const auto members = std::span(order).first(size);
      expect_batch(terms, part, members, expected_of(pairs, pairs, rows, true, filter, members), 0.05);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(BlockTerms, SuspectsOfAnotherPartAreThoseOfXAndY) {
  constexpr std::size_t kRows = 90;
  const Data data("clustered", kRows, 16);
  const std::vector<double> pairs = all_similarities(data.x, data.y), own = all_similarities(data.x, data.x);
  FilterOptions filter;
  filter.relative_margin = 0.1;
  filter.groups = {random_ids(kRows, 20, 3)};
  Array<double> positives(kRows);
  for (std::size_t i = 0; i < kRows; ++i) positives[i] = pairs[i * kRows + i];
  for (const std::size_t largest_table : {kRows, std::size_t{0}}) {
    const RunContext run;
    const LossPart part = make_part(data.rows_x, data.rows_y, true, largest_table, run),
                   views = make_part(data.rows_x, data.rows_x, true, largest_table, run);
    const Admissible admissible = make_admissible(filter, positives, run);
    const JudgedPart both{&part, true};
    const std::span<const JudgedPart> judged(&both, 1);
    BlockTerms terms(views, judged, admissible, 0.1, kScalarKernel, kRows, run);
    const std::vector<Vertex> members = shuffled(kRows, 9);
    expect_batch(terms, views, members, expected_of(own, pairs, kRows, true, filter, members), 0.1);
    if (HasFatalFailure()) return;
  }
}

TEST(BlockTerms, LowTemperaturesAreSlow) {
  const Data data("normal", 20, 8);
  const LossPart part = make_part(data.rows_x, data.rows_y, true, 0, data.run);
  const Admissible none;
  const JudgedPart both{&part, true};
  const std::span<const JudgedPart> judged(&both, 1);
  EXPECT_TRUE(BlockTerms(part, judged, none, 0.0125, kScalarKernel, 20, data.run).is_fast());
  EXPECT_FALSE(BlockTerms(part, judged, none, 0.0124, kScalarKernel, 20, data.run).is_fast());
}

TEST(BlockTerms, StopWhenAsked) {
  struct Stop : Observer {
    bool stop_requested() noexcept override { return true; }
  } stop;
  const Data data("normal", 20, 8);
  const LossPart part = make_part(data.rows_x, data.rows_y, true, 0, data.run);
  const Admissible none;
  const RunContext run{1, &stop, nullptr};
  const JudgedPart both{&part, true};
  const std::span<const JudgedPart> judged(&both, 1);
  BlockTerms terms(part, judged, none, 0.05, kScalarKernel, 20, run);
  const std::vector<Vertex> members = in_order(20);
  try {
    run_sums(terms, members, false);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
}

}  // namespace
}  // namespace gcbs
