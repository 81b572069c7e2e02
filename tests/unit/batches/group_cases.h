// Groups of many shapes, and what a finished seating must hold.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "similarity/groups.h"
#include "support/graphs.h"

namespace gcbs::testing {

/// Ids and the cut they are for.
struct GroupCase {
  std::size_t rows = 0, batch_size = 0;
  std::vector<GroupIds> lists;
  std::size_t batches() const { return (rows + batch_size - 1) / batch_size; }
};

inline std::vector<Vertex> shuffled_rows(std::size_t rows, Random& random) {
  std::vector<Vertex> order(rows);
  std::iota(order.begin(), order.end(), Vertex{0});
  for (std::size_t left = rows; left > 1; --left) std::swap(order[left - 1], order[random.below(left)]);
  return order;
}

/// A list that can be kept apart, because it is written down apart: each batch gets distinct ids out of a
/// pool of `batch_size + slack`, often the same. No slack: every full batch has every id, no place is free.
inline GroupIds feasible_ids(std::size_t rows, std::size_t batch_size, std::size_t slack, Random& random) {
  GroupIds ids;
  std::vector<std::int64_t> pool(batch_size + slack);
  std::iota(pool.begin(), pool.end(), -3);
  while (ids.size() < rows) {
    for (std::size_t left = pool.size(); left > 1; --left)
      if (random.below(3) > 0) std::swap(pool[left - 1], pool[random.below(left)]);
    for (std::size_t i = 0; i < batch_size && ids.size() < rows; ++i) ids.push_back(pool[i]);
  }
  return ids;
}

/// One group with a row in every batch, the others alone or in pairs of neighbouring batches.
inline GroupIds giant_ids(std::size_t rows, std::size_t batch_size, Random& random) {
  GroupIds ids(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const bool pair = i >= batch_size && random.below(2) == 0;
    ids[i] = i % batch_size == 0 ? 7 : pair ? ids[i - batch_size] : 100 + static_cast<std::int64_t>(i);
  }
  return ids;
}

/// The same ids on other rows.
inline GroupIds permuted(const GroupIds& ids, Random& random) {
  const std::vector<Vertex> order = shuffled_rows(ids.size(), random);
  GroupIds result(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) result[i] = ids[order[i]];
  return result;
}

inline ::testing::AssertionResult groups_apart(const std::vector<Vertex>& order, std::size_t batch_size,
                                               const std::vector<GroupIds>& lists) {
  for (std::size_t first = 0; first < order.size(); first += batch_size)
    for (std::size_t p = first; p < std::min(order.size(), first + batch_size); ++p)
      for (std::size_t q = first; q < p; ++q)
        for (const GroupIds& ids : lists)
          if (ids[order[p]] == ids[order[q]])
            return ::testing::AssertionFailure()
                   << "rows " << order[p] << " and " << order[q] << " of group " << ids[order[p]];
  return ::testing::AssertionSuccess();
}

}  // namespace gcbs::testing
