// The terms of a batch, in float64: what the loss and the bounds of an order read.
#pragma once

#include <algorithm>
#include <vector>

#include "loss/loss_model.h"

namespace gcbs {

/// The terms of one batch after the other, all parts together.
class LossModel::BatchTerms {
 public:
  BatchTerms(const LossModel& model, std::size_t batch_size) : model_(model) {
    for (const Entry& entry : model.parts_) blocks_.push_back(model.block_terms(entry.part, batch_size));
  }

  std::vector<Terms> x, y;   ///< by place in the batch
  std::vector<Terms> pairs;  ///< of X and Y alone

  void run(std::span<const Vertex> members) {
    x.assign(members.size(), {});
    y.assign(members.size(), {});
    rows_.resize(members.size());
    const std::size_t a_band = band_rows(members.size());
    for (std::size_t p = 0; p < blocks_.size(); ++p) {
      const Entry& entry = model_.parts_[p];
      cols_.assign(members.size(), {});
      for (std::size_t first = 0; first < members.size(); first += a_band)
        blocks_[p].terms({members, first, std::min(a_band, members.size() - first)}, rows_.data() + first,
                         cols_.data());
      if (p == 0) pairs = rows_;
      add(rows_, entry.rows);
      add(cols_, entry.cols);
    }
  }

 private:
  void add(const std::vector<Terms>& terms, Side side) {
    if (side == Side::none) return;
    std::vector<Terms>& sums = side == Side::x ? x : y;
    for (std::size_t r = 0; r < terms.size(); ++r) sums[r].add(terms[r]);
  }

  const LossModel& model_;
  std::vector<BlockTerms> blocks_;
  std::vector<Terms> rows_, cols_;
};

}  // namespace gcbs
