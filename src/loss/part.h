// Two sides whose products enter the loss.
#pragma once

#include <span>

#include "loss/terms.h"
#include "matrix/rows.h"
#include "similarity/limits.h"
#include "similarity/operand.h"

namespace gcbs {

/// Either all products are known (small N), or they are made of int16 rows on the way, each within its
/// bound of the true one.
struct LossPart {
  const Rows* left = nullptr;
  const Rows* right = nullptr;
  /// Row i and column i belong to one pair: no negatives of each other, nor are inadmissible pairs.
  bool paired = true;
  Array<double> table;  ///< N x N, where N is small
  FinePrepared fine;    ///< otherwise
  FineBound bound;      ///< of fine; the rounding of products to float32 included

  bool is_exact() const noexcept { return !table.empty(); }
  std::size_t count() const noexcept { return left->count(); }
  /// What a dense product stands for.
  double value(float product, Vertex i, Vertex j) const noexcept {
    return static_cast<double>(product) * (fine.x.scale * fine.y.scale) + fine.x.offset[i] + fine.y.offset[j];
  }
  /// No value is further than this from s.
  double worst_bound() const noexcept;
};

/// `largest_table`: up to so many rows all products are kept.
LossPart make_part(const Rows& left, const Rows& right, bool paired, std::size_t largest_table,
                   const RunContext& run);

/// Rows `first` .. first + count - 1 of a batch, against all of it.
struct BatchBand {
  std::span<const Vertex> members;
  std::size_t first, count;
  Vertex row(std::size_t r) const noexcept { return members[first + r]; }
};

}  // namespace gcbs
