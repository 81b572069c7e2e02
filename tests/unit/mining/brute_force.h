// Mining by the letter: every similarity, every rule as sentence-transformers states it, a full sort.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "gcbs/mining.h"
#include "support/matrices.h"

namespace gcbs::testing {

/// Scores as bits, so that NaN equals NaN.
struct Mined {
  std::vector<std::int64_t> columns;
  std::vector<std::uint32_t> scores;

  bool operator==(const Mined&) const = default;
};

/// Scores of any width, as float32.
template <class Score>
Mined mined(const Array<std::int64_t>& columns, const Array<Score>& scores) {
  Mined out{{columns.begin(), columns.end()}, {}};
  for (const Score score : scores)
    out.scores.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(score)));
  return out;
}

/// `similarities`: rows x columns.
inline Mined mine_by_brute_force(const std::vector<double>& similarities, std::size_t rows,
                                 std::size_t columns, const MiningOptions& options) {
  const auto positive = [&](std::size_t i) {
    return options.positives ? static_cast<std::size_t>((*options.positives)[i]) : i;
  };
  std::vector<std::vector<std::size_t>> pairs_of(columns);
  for (std::size_t pair = 0; pair < rows; ++pair) pairs_of[positive(pair)].push_back(pair);
  const auto is_forbidden = [&](std::size_t i, std::size_t j) {
    for (const std::size_t pair : pairs_of[j]) {
      if (pair == i) return true;
      for (const auto& ids : options.groups)
        if (ids[pair] == ids[i]) return true;
    }
    return false;
  };
  Mined out;
  for (std::size_t i = 0; i < rows; ++i) {
    const double* s = similarities.data() + i * columns;
    const double p = s[positive(i)];
    std::vector<std::pair<double, std::size_t>> allowed;
    for (std::size_t j = 0; j < columns; ++j) {
      if (is_forbidden(i, j)) continue;
      if (options.absolute_margin && s[j] + *options.absolute_margin > p) continue;
      if (options.relative_margin && s[j] > p - std::abs(p) * *options.relative_margin) continue;
      if (options.max_score && s[j] > *options.max_score) continue;
      if (options.min_score && s[j] < *options.min_score) continue;
      allowed.emplace_back(-s[j], j);
    }
    std::sort(allowed.begin(), allowed.end());
    for (std::size_t k = options.skip_top; k < options.skip_top + options.top; ++k) {
      const bool is_there = k < allowed.size();
      out.columns.push_back(is_there ? static_cast<std::int64_t>(allowed[k].second) : -1);
      out.scores.push_back(std::bit_cast<std::uint32_t>(is_there ? static_cast<float>(-allowed[k].first)
                                                                 : std::numeric_limits<float>::quiet_NaN()));
    }
  }
  return out;
}

}  // namespace gcbs::testing
