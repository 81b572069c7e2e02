// The scan of all N^2 pairs: which surely exceed a band, which the small numbers cannot decide.
#pragma once

#include <cstdint>
#include <vector>

#include "base/run.h"
#include "gcbs/graph.h"
#include "matrix/rows.h"
#include "similarity/definition.h"
#include "similarity/limits.h"
#include "similarity/operand.h"

namespace gcbs {

struct EdgeFilter;
class SieveOperands;

// Rows and columns below are places in the operands (PlaceRows) up to assemble_edges.

/// A pair whose similarity may lie in the band: `value` is within the fine bound of s, or s itself.
struct Undecided {
  Vertex row, col;
  double value;
};

/// Columns above the band of consecutive rows, in compressed rows, ascending.
struct EdgeBlock {
  std::size_t first_row = 0;
  std::vector<std::uint32_t> counts;  ///< one a row
  Array<Vertex> columns;
};

struct JoinResult {
  std::vector<EdgeBlock> blocks;       ///< by first_row; diagonal entries included
  MeteredVector<Undecided> undecided;  ///< sorted by (row, col); with a point band only those s > t, decided
  EdgeIndex kept = 0;                  ///< pairs of rows in all blocks
  bool overflow = false;               ///< stopped: more undecided pairs than allowed, result unusable
};

/// What a join reads. All of it outlives the join.
struct JoinInput {
  const Rows& x;
  const Rows& y;
  const FinePrepared& fine;
  const CoarsePrepared& coarse;
  const Kernel& kernel;
  const RowClasses* classes = nullptr;  ///< equal rows, where many are known to be equal
  /// Only admissible pairs count, and are found or counted, where a filter is given. X has one row a place
  /// then, and columns that are found are rows of Y, not places: equal rows are judged one by one.
  const EdgeFilter* filter = nullptr;
  const SieveOperands* sieve_operands = nullptr;  ///< of the filter

  /// Of pairs that name places in the operands.
  Definition definition() const { return Definition(x, y, classes, &fine, filter != nullptr); }

  /// Whether places may stand for several rows; how many pairs of rows a pair of places stands for.
  bool weighted() const noexcept {
    return filter == nullptr && (!fine.x.places.empty() || !fine.y.places.empty());
  }
  std::uint64_t weight(std::size_t row, std::size_t col) const noexcept {
    return filter != nullptr ? 1 : fine.x.places.weight(row) * fine.y.places.weight(col);
  }
  /// The place of a column that was found.
  std::size_t place_y(std::size_t col) const noexcept {
    return filter != nullptr ? fine.y.places.place(col) : col;
  }
};

/// Scans every pair once. With a point band (low == high == t) undecided pairs are settled by the
/// definition on the way; otherwise they are handed back, at most `undecided_limit` of them.
JoinResult join_rows(const JoinInput& input, Band band, std::uint64_t undecided_limit, const RunContext& run);

/// How many pairs of rows have s > t; stops early once it is more than `stop_at`. Keeps nothing.
std::uint64_t count_above(const JoinInput& input, double t, std::uint64_t stop_at, const RunContext& run);

/// The same for each place of X.
Array<std::uint64_t> count_rows_above(const JoinInput& input, double t, const RunContext& run);

/// Joins the blocks with more edges, sorted by (row, col), and frees the blocks on the way.
Edges assemble_edges(JoinResult&& join, const MeteredVector<FinePair>& more, const PlaceRows& places_x,
                     const PlaceRows& places_y, std::size_t rows, bool keep_diagonal, const RunContext& run);

}  // namespace gcbs
