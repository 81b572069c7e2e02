#include "loss/part.h"

#include <algorithm>

#include "similarity/definition.h"

namespace gcbs {
namespace {

Array<double> all_products(const Rows& left, const Rows& right, const RunContext& run) {
  const std::size_t n = left.count();
  Array<double> table(n * n, run.meter);
  parallel_for(run, n, 16, [&](std::size_t begin, std::size_t end, unsigned) {
    Definition definition(left, right);
    std::vector<FinePair> pairs(n);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t j = 0; j < n; ++j) pairs[j] = {static_cast<Vertex>(i), static_cast<Vertex>(j)};
      definition.evaluate(pairs, {table.data() + i * n, n});
    }
  });
  return table;
}

}  // namespace

double LossPart::worst_bound() const noexcept {
  if (is_exact()) return 0;
  return *std::max_element(bound.row.begin(), bound.row.end()) +
         *std::max_element(bound.col.begin(), bound.col.end());
}

LossPart make_part(const Rows& left, const Rows& right, bool paired, std::size_t largest_table,
                   const RunContext& run) {
  LossPart part;
  part.left = &left;
  part.right = &right;
  part.paired = paired;
  if (left.count() <= largest_table) {
    part.table = all_products(left, right, run);
    return part;
  }
  part.fine = prepare_fine(left, right, {}, {}, run, FineUse::sums);
  part.bound = separate_fine(part.fine, run);
  // Products are rounded to float32, once; |x'| |y'| stays below 4.2.
  for (double& bound : part.bound.row) bound += 0x1p-21;
  return part;
}

}  // namespace gcbs
