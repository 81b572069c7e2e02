// Hard negatives: for each row of X the most similar rows of Y, or of a corpus, that are not its own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gcbs/array.h"
#include "gcbs/cpu.h"
#include "gcbs/matrix.h"
#include "gcbs/observer.h"

namespace gcbs {

/// Which rows of the corpus may be negatives of row i, and how many of them are wanted. s is the float64
/// number of contract C1, p = s(i, positive of i). Margins and ranks mean what they mean in
/// sentence-transformers' mine_hard_negatives, whose names are given where they differ.
struct MiningOptions {
  std::size_t top = 1;       ///< negatives a row, at least 1 (num_negatives)
  std::size_t skip_top = 0;  ///< leave out the most similar ones that are otherwise allowed (range_min)

  std::optional<double> relative_margin;  ///< never s > p - margin |p|; in [0, 1]
  std::optional<double> absolute_margin;  ///< never s + margin > p; in [0, 2]
  std::optional<double> max_score;        ///< never s > max_score
  std::optional<double> min_score;        ///< never s < min_score

  /// For each row of X the row of the corpus that is its positive; several may share one. None: row i.
  std::optional<std::vector<std::int64_t>> positives;
  /// Lists of ids, one id a row of X. Row i never gets the positive of a row with the same id in any list.
  std::vector<std::vector<std::int64_t>> groups;
  /// Rows of X that are equal are of one group, and what equals a row's positive, or that of a group-mate, is
  /// no negative of it either.
  bool duplicates = false;

  bool normalised = false;  ///< rows are unit vectors already (checked to 1e-3) and are used as they are
  unsigned threads = 0;     ///< 0: usable_cores()
  std::optional<Isa> isa;
  /// Bytes the run may allocate; 0: 80 % of what is available. Refused up front when over.
  std::uint64_t memory_limit = 0;
};

struct MiningResult {
  std::size_t rows = 0, top = 0;
  /// rows x top rows of the corpus, the most similar first, equal ones by index; -1 where there are fewer.
  Array<std::int64_t> negatives;
  Array<float> scores;  ///< their s, rounded to float32; NaN where there are fewer
  Isa isa = Isa::scalar;
  unsigned threads = 1;
  std::vector<Stage> stages;  ///< in order, never overlapping
  std::uint64_t peak_bytes = 0;
};

/// Mines for every row of x among the rows of `corpus`: y, or any matrix that holds the positives. The
/// same bytes for every instruction set and thread count. Throws Error; leaves nothing running.
MiningResult mine_negatives(const MatrixView& x, const MatrixView& corpus, const MiningOptions& options,
                            Observer* observer = nullptr);

}  // namespace gcbs
