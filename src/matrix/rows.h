// The rows of contract C1: checked, normalised, converted to float32 on demand. Borrows the matrix.
#pragma once

#include <cstddef>

#include "base/run.h"
#include "gcbs/array.h"
#include "gcbs/matrix.h"

namespace gcbs {

/// Row i is the input row divided by its norm, rounded to float32 (or, when the rows are said to be
/// normalised, the input row converted to float32). Holds O(rows) memory, not a copy of the matrix.
class Rows {
 public:
  /// Checks every value and row once, in parallel; reports progress in rows. Throws Error(input) that
  /// names the first bad row, the same for any number of threads: NaN, Inf, zero norm, or (with
  /// `normalised`) a norm more than 1e-3 away from 1, a value beyond float32.
  Rows(const MatrixView& matrix, bool normalised, const RunContext& run);

  std::size_t count() const noexcept { return matrix_.rows; }
  std::size_t dim() const noexcept { return matrix_.cols; }
  const MatrixView& matrix() const noexcept { return matrix_; }

  /// What row i of the matrix is divided by. Negative: a row that is scaled by a power of two first.
  double norm(std::size_t i) const noexcept { return normalised_ ? 1 : norms_[i]; }

  /// Writes the dim() values of row i. The same bits on every machine.
  void read(std::size_t i, float* out) const noexcept;

 private:
  MatrixView matrix_;
  bool normalised_;
  Array<double> norms_;  ///< negative: the norm of the row scaled by a power of two; empty when normalised
};

}  // namespace gcbs
