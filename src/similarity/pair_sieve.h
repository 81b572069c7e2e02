// Many pairs judged at once: int16 products of all kinds first, the definition for what they leave open.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "similarity/limits.h"
#include "similarity/operand.h"
#include "similarity/pair_judge.h"

namespace gcbs {

/// The int16 rows by which pairs are judged, with their bounds by row. Made once, shared by sieves.
class SieveOperands {
 public:
  /// `own`: the operands of X and Y, borrowed, in any order of places; they are made anew for a guide. The
  /// places may be put into another order afterwards.
  SieveOperands(const PairJudge& judge, const FinePrepared& own, const RunContext& run);

 private:
  friend class PairSieve;
  struct Kind {
    const FineOperand *left, *right;
    double scale;
    Array<double> left_offset, right_offset, left_bound, right_bound;  ///< by row
  };
  void add(const Judged& judged, const FineOperand& left, const FineOperand& right, double rounding,
           const RunContext& run);

  std::optional<FinePrepared> guide_;
  std::vector<Kind> kinds_;
  std::vector<RowClasses> classes_;  ///< one a kind: equal rows are what makes values tie
};

/// What is known of s(x_i,y_j).
struct SeenPair {
  Vertex row, col;  ///< rows of the matrices
  double low, high;
};

/// A worker's buffers. Decides as PairJudge::admits does.
class PairSieve {
 public:
  /// Borrows both.
  PairSieve(const PairJudge& judge, const SieveOperands& operands, const Kernel& kernel);

  /// Sets admitted[p] to whether pairs[p] is admissible. Without a guide, what is known of s(x_i,y_j) is
  /// made use of.
  void judge(std::span<const SeenPair> pairs, std::span<std::uint8_t> admitted);

  /// Whether v is suspect with any of the others, by PairJudge's answers. Uses no buffers: safe to call from
  /// several threads.
  bool meets_suspect(Vertex v, std::span<const Vertex> others) const;
  bool is_suspect(Vertex i, Vertex j) const { return meets_suspect(i, {&j, 1}); }

 private:
  void look(std::size_t kind, bool turned, std::span<const SeenPair> pairs);
  bool meets_suspect_of_few(Vertex v, std::span<const Vertex> others) const;
  bool exceeds(std::size_t kind, const FinePair& pair, double limit);

  const PairJudge& judge_;
  const SieveOperands& operands_;
  const Kernel& kernel_;
  std::vector<Definition> definitions_;  ///< one a kind
  std::vector<std::size_t> left_;        ///< pairs that nothing speaks against so far
  std::vector<FinePair> places_;
  std::vector<std::int64_t> products_;
};

}  // namespace gcbs
