// The second look at a pair that int8 left open: its int16 product.
#pragma once

#include <cstdint>
#include <vector>

#include "similarity/join.h"
#include "similarity/limits.h"

namespace gcbs {

/// A worker's candidates and their products.
class Recheck {
 public:
  Recheck(const JoinInput& input, const FineLimits& limits, std::size_t capacity)
      : input_(input), limits_(limits), pairs_(capacity), products_(capacity) {}

  /// Where the caller writes the candidates.
  FinePair* pairs() noexcept { return pairs_.data(); }

  /// Looks at the first `count` candidates. Calls mark(pair, whether s > high surely) for each, without a
  /// branch: half of them are. Lists those that are still open.
  template <class Mark>
  void run(std::size_t count, MeteredVector<Undecided>& undecided, Mark&& mark) {
    const FinePrepared& fine = input_.fine;
    input_.kernel.fine(
        {fine.x.values.data(), fine.y.values.data(), fine.x.stride, pairs_.data(), count, products_.data()});
    const FinePair* pairs = pairs_.data();
    const std::int64_t* products = products_.data();
    const double *row_reach = limits_.row_reach.data(), *col_reach = limits_.col_reach.data();
    const double *row_floor = limits_.row_floor.data(), *col_floor = limits_.col_floor.data();
    const double scale = limits_.scale, low = limits_.low, high = limits_.high;
    for (std::size_t p = 0; p < count; ++p) {
      const auto [i, j] = pairs[p];
      const double product = scale * static_cast<double>(products[p]);
      const bool sure = product + row_floor[i] + col_floor[j] > high;
      mark(pairs[p], sure);
      if (!sure & (product + row_reach[i] + col_reach[j] > low))
        undecided.push_back({i, j, product + fine.x.offset[i] + fine.y.offset[j]});
    }
  }

 private:
  const JoinInput& input_;
  const FineLimits& limits_;
  Array<FinePair> pairs_;
  Array<std::int64_t> products_;
};

}  // namespace gcbs
