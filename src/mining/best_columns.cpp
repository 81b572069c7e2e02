// Thinning: of the contenders that surely are within the ceiling, the wanted-th largest lower end bounds
// the wanted-th best s from below; whoever ends below it has lost, and whoever comes later (at a higher
// column) must be above it, since it loses ties.
//
// It is done after every few additions, so that the limit rises as fast as it can while it is low, and
// costs a few steps an addition. What it cannot thin (ties, values closer than the bounds) is ranked by
// exact values, which leaves no more than are wanted.
#include "mining/best_columns.h"

#include <algorithm>
#include <functional>

namespace gcbs {
namespace {

constexpr std::size_t kSlack = 64, kLeastStep = 4;

std::size_t capacity_for(std::size_t wanted) { return 2 * wanted + kSlack; }

}  // namespace

BestColumns::BestColumns(std::size_t rows, std::size_t wanted, double floor, MemoryMeter* meter)
    : wanted_(wanted),
      step_(wanted / 2 + kLeastStep),
      capacity_(capacity_for(wanted)),
      floor_(floor),
      entries_(rows * capacity_, meter),
      counts_(rows),
      marks_(rows),
      limits_(rows) {
  lows_.reserve(capacity_);
  clear();
}

std::size_t BestColumns::bytes_a_row(std::size_t wanted) noexcept {
  return capacity_for(wanted) * sizeof(Contender) + 2 * sizeof(std::size_t) + sizeof(double);
}

void BestColumns::clear() {
  std::fill(counts_.begin(), counts_.end(), std::size_t{0});
  std::fill(marks_.begin(), marks_.end(), std::min(wanted_ + step_, capacity_));
  std::fill(limits_.begin(), limits_.end(), floor_);
}

bool BestColumns::thin(std::size_t r, double ceiling) {
  const std::span<Contender> all = row(r);
  lows_.clear();
  for (const Contender& c : all)
    if (c.high <= ceiling) lows_.push_back(c.low);
  if (lows_.size() >= wanted_) {
    const auto nth = lows_.begin() + static_cast<std::ptrdiff_t>(wanted_ - 1);
    std::nth_element(lows_.begin(), nth, lows_.end(), std::greater<>());
    limits_[r] = std::max(limits_[r], *nth);
  }
  const auto end =
      std::remove_if(all.begin(), all.end(), [&](const Contender& c) { return c.high < limits_[r]; });
  counts_[r] = static_cast<std::size_t>(end - all.begin());
  marks_[r] = counts_[r] + step_;
  return marks_[r] <= capacity_;
}

void BestColumns::rank(std::size_t r, double ceiling) {
  const std::span<Contender> all = row(r);
  const auto end = std::remove_if(all.begin(), all.end(),
                                  [&](const Contender& c) { return c.low > ceiling || c.low <= floor_; });
  std::sort(all.begin(), end, [](const Contender& a, const Contender& b) {
    return a.low != b.low ? a.low > b.low : a.column < b.column;
  });
  counts_[r] = std::min(wanted_, static_cast<std::size_t>(end - all.begin()));
  marks_[r] = counts_[r] + step_;
  if (counts_[r] == wanted_) limits_[r] = std::max(limits_[r], all[wanted_ - 1].low);
}

}  // namespace gcbs
