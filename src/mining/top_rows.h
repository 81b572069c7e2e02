// The engine of mining: operands, the scan, the best columns of every row.
#pragma once

#include <cstdint>
#include <span>

#include "gcbs/array.h"
#include "gcbs/mining.h"
#include "matrix/rows.h"
#include "mining/exclusions.h"
#include "similarity/find_edges.h"

namespace gcbs {

/// rows x top, as MiningResult has them.
struct TopRows {
  Array<std::int64_t> columns;
  Array<double> scores;
};

/// A further say in who may be a negative. Asked from several threads.
class PairFilter {
 public:
  virtual ~PairFilter() = default;
  /// s(row, column) lies in [low, high].
  virtual bool admits(Vertex row, Vertex column, double low, double high) const = 0;
  /// What s may not exceed, by row, so that the scan drops most of what would be refused. Empty: nothing
  /// known.
  virtual std::span<const double> ceiling() const { return {}; }
};

/// The best columns by the definition, as the options say. Options have been checked. `filter` may be null.
TopRows find_top_rows(const Rows& x, const Rows& y, const Exclusions& exclusions,
                      const MiningOptions& options, const Kernel& kernel, const RunContext& run,
                      const StageMark& begin_stage, const PairFilter* filter = nullptr);

/// How many of a row's best columns the scan has to keep.
std::size_t count_wanted(const MiningOptions& options, std::size_t columns) noexcept;

/// What the contenders of all workers take at most.
double contender_bytes(std::size_t rows, std::size_t wanted, unsigned threads) noexcept;

}  // namespace gcbs
