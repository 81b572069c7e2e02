// PairJudge's answers where int16 rows are at hand: a row against another, or against all of a block.
#pragma once

#include <algorithm>
#include <span>

#include "similarity/pair_sieve.h"

namespace gcbs {

/// Decides as PairJudge does. Safe to call from several threads.
class QuickJudge {
 public:
  /// Borrows all. `fine`: the rows of x and y as int16; null: they are made here where margins need them.
  QuickJudge(const PairJudge& judge, const FinePrepared* fine, const Rows& x, const Rows& y,
             const Kernel& kernel, const RunContext& run)
      : judge_(judge),
        own_(fine == nullptr && needs_fine(judge) ? prepare_fine(x, y, {}, {}, run) : FinePrepared{}),
        operands_(judge, fine != nullptr ? *fine : own_, run),
        sieve_(judge, operands_, kernel) {}
  QuickJudge(const QuickJudge&) = delete;
  QuickJudge& operator=(const QuickJudge&) = delete;

  /// Whether suspects are judged by x and y; a guide brings rows of its own.
  static bool needs_fine(const PairJudge& judge) { return judge.has_margins() && !judge.is_guided(); }

  const PairJudge& judge() const noexcept { return judge_; }
  const Groups& groups() const noexcept { return judge_.groups(); }
  bool has_margins() const noexcept { return judge_.has_margins(); }
  bool admits_all() const noexcept { return judge_.admits_all(); }

  bool is_suspect(Vertex i, Vertex j) const { return sieve_.is_suspect(i, j); }
  /// Whether v may share a batch with all of the others; v is none of them.
  bool fits(Vertex v, std::span<const Vertex> others) const {
    return std::none_of(others.begin(), others.end(),
                        [&](Vertex other) { return groups().are_mates(v, other); }) &&
           !sieve_.meets_suspect(v, others);
  }

 private:
  const PairJudge& judge_;
  FinePrepared own_;
  SieveOperands operands_;
  PairSieve sieve_;
};

}  // namespace gcbs
