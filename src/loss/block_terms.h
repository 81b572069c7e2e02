// Sums over the pairs of a batch: every row of it against every column of it, whatever its size. A batch
// of all rows gives the global loss.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "loss/mates.h"
#include "loss/part.h"
#include "loss/suspects.h"
#include "similarity/dense.h"

namespace gcbs {

/// Rows of the bands of a batch: a fixed cut, so that sums have a fixed order for every number of threads.
std::size_t band_rows(std::size_t batch_size) noexcept;

/// A worker's buffers for one part. `judged`: the parts by which suspects are judged.
class BlockTerms {
 public:
  BlockTerms(const LossPart& part, std::span<const JudgedPart> judged, const Admissible& admissible,
             double temperature, const Kernel& kernel, std::size_t largest_batch, const RunContext& run);

  /// True where sums() may be used: int16 products, exponents that float32 holds.
  bool is_fast() const noexcept { return fast_; }

  /// Sums of exponentials of the band's rows, and the band's share of its columns' sums. Where wanted (all
  /// four, or all null): the largest exponential and how many there are, of rows and of columns. In units
  /// of e^unit(). Columns are added to.
  struct Sums {
    double *rows, *cols;
    double *row_most, *col_most;
    std::uint32_t *row_count, *col_count;
  };
  void sums(const BatchBand& band, const Sums& out);
  double unit() const noexcept;

  /// All that the bounds need, in float64. Rows are set, columns added to.
  void terms(const BatchBand& band, Terms* rows, Terms* cols);

 private:
  struct Block {
    std::size_t row, rows, column, columns;  ///< places in the band, in the batch
    const float* products;                   ///< null with a table
    const std::uint16_t* excluded;           ///< a row; null: none
  };

  template <class Sink>
  void scan(const BatchBand& band, Sink&& sink);
  void exclude_known(const BatchBand& band, std::size_t column, std::size_t columns);
  void flush_lanes(const Sums& out, std::size_t count);
  static void take_off(const Block& block, const Sums& out);
  double value(const BatchBand& band, const Block& block, std::size_t r, std::size_t c) const noexcept;

  const LossPart& part_;
  const Admissible& admissible_;
  double temperature_;
  const Kernel& kernel_;
  const RunContext& run_;
  bool fast_;
  std::size_t capacity_;  ///< rows of a band
  DenseRows rows_;
  DensePanels panels_;
  std::optional<Suspects> suspects_;
  Mates mates_;
  std::vector<std::uint64_t> masks_;  ///< a row of the band: columns of the tile that do not count
  bool any_masked_ = false;
  Array<float> lanes_, most_, row_add_, col_add_;
};

}  // namespace gcbs
