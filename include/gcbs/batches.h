// Order -> batches: blocks mixed, groups kept apart, a dial for hardness, columns shared by the batch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "gcbs/array.h"
#include "gcbs/observer.h"
#include "gcbs/ordering.h"

namespace gcbs {

struct BatchOptions {
  /// Rows of a block; divides the batch size. Blocks are mixed at random into batches. 0: one block a batch.
  std::size_t block = 0;
  /// Share of every batch that is drawn at random from all rows, in [0, 1].
  double random_share = 0;
  /// Which epoch: batches come in another sequence in each. None: in the sequence of the order.
  std::optional<std::uint64_t> epoch;
  /// Rows outside a batch whose y all its x are contrasted with.
  std::size_t extra = 0;
  /// What similarities are divided by where the mass of such a row is weighed.
  double temperature = 0.05;

  std::size_t rows_of_block(std::size_t batch_size) const noexcept { return block != 0 ? block : batch_size; }
};

/// What became of the order on its way to batches.
struct BatchReport {
  std::uint64_t batches = 0;
  std::uint64_t moved = 0;  ///< rows that changed their batch to keep groups apart and suspects out
  std::optional<std::uint64_t> suspects_in_batch;  ///< pairs; none where nothing is suspect
};

/// For each batch the rows whose y it also meets, the heaviest first; -1 where there are fewer.
struct ExtraColumns {
  std::size_t batches = 0, columns = 0;
  Array<std::int64_t> rows;  ///< batches x columns

  std::span<const std::int64_t> of_batch(std::size_t batch) const noexcept {
    return {rows.data() + batch * columns, columns};
  }
};

/// An order whose consecutive batches are what the trainer sees.
struct ArrangedBatches {
  Order order;
  BatchReport report;
};

/// Makes batches of an order that is there already, without embeddings: blocks mixed, groups (lists of one id
/// a row) apart, the batches in the sequence of the epoch. `options.extra` is not read. Throws Error.
ArrangedBatches arrange_batches(std::span<const std::int64_t> order, std::size_t batch_size,
                                const std::vector<std::vector<std::int64_t>>& groups,
                                const BatchOptions& options, std::uint64_t seed,
                                Observer* observer = nullptr);

}  // namespace gcbs
