// The second look at a pair that int8 left open: its int16 product.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "similarity/edge_sieve.h"
#include "similarity/join.h"
#include "similarity/limits.h"

namespace gcbs {

/// A worker's candidates and their products.
class Recheck {
 public:
  Recheck(const JoinInput& input, const FineLimits& limits, std::size_t capacity)
      : input_(input), limits_(limits), pairs_(capacity), products_(capacity) {
    if (input.filter != nullptr)
      sieve_.emplace(*input.filter, *input.sieve_operands, input.x, input.y, input.kernel);
  }

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

  /// The same with a filter: calls keep(pair) where s > high surely, lists those that are still open; those
  /// that are not admitted are neither. Every column of a place is judged by itself, and named by its row.
  template <class Keep>
  void run_filtered(std::size_t count, MeteredVector<Undecided>& undecided, Keep&& keep) {
    constexpr std::size_t kAtOnce = 4096;
    const FinePrepared& fine = input_.fine;
    const PlaceRows& places = fine.y.places;
    input_.kernel.fine(
        {fine.x.values.data(), fine.y.values.data(), fine.x.stride, pairs_.data(), count, products_.data()});
    for (std::size_t p = 0; p < count; ++p) {
      const auto [i, place] = pairs_[p];
      const double product = limits_.scale * static_cast<double>(products_[p]);
      const double most = product + limits_.row_reach[i] + limits_.col_reach[place];
      if (most <= limits_.low) continue;
      const double least = product + limits_.row_floor[i] + limits_.col_floor[place];
      for (std::size_t k = 0; k < places.weight(place); ++k) {
        const Vertex j = places.empty() ? place : places.rows[places.offsets[place] + k];
        seen_.push_back({fine.x.places.first(i), j, least, most});
        open_.push_back({i, j, product + fine.x.offset[i] + fine.y.offset[place]});
      }
      if (seen_.size() >= kAtOnce) judge_seen(undecided, keep);
    }
    judge_seen(undecided, keep);
  }

 private:
  template <class Keep>
  void judge_seen(MeteredVector<Undecided>& undecided, Keep&& keep) {
    admitted_.resize(seen_.size());
    sieve_->judge(seen_, admitted_);
    for (std::size_t p = 0; p < seen_.size(); ++p) {
      if (admitted_[p] == 0) continue;
      if (seen_[p].low > limits_.high)
        keep(FinePair{open_[p].row, open_[p].col});
      else
        undecided.push_back(open_[p]);
    }
    seen_.clear();
    open_.clear();
  }

  const JoinInput& input_;
  const FineLimits& limits_;
  Array<FinePair> pairs_;
  Array<std::int64_t> products_;
  std::optional<EdgeSieve> sieve_;
  std::vector<SeenPair> seen_;
  std::vector<Undecided> open_;
  std::vector<std::uint8_t> admitted_;
};

}  // namespace gcbs
