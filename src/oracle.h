// Each row with its own k - 1 hardest negatives: the loss that no order passes.
#pragma once

#include "loss/loss_model.h"
#include "similarity/find_edges.h"

namespace gcbs {

/// What LossModel was made of; `negatives` may be null.
struct LossRows {
  const Rows& x;
  const Rows& y;
  const Rows* negatives;
};

/// The mean loss if every anchor met the `batch_size - 1` hardest of its admissible negatives (of each kind
/// of them, where there are several), in the direction asked for. Needs the best columns of every row.
double oracle_loss(const LossRows& rows, const LossModel& model, const LossOptions& options,
                   std::size_t batch_size, const Kernel& kernel, const RunContext& run);

/// What it takes beside the model, in bytes. `judges`: there are margins.
double oracle_bytes(std::size_t rows, std::size_t cols, std::size_t batch_size, bool judges,
                    unsigned threads);

}  // namespace gcbs
