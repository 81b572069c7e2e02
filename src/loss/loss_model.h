// The losses of one data set: global, of an order, of random orders (docs/gap.md).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "gcbs/batches.h"
#include "gcbs/loss.h"
#include "loss/block_terms.h"
#include "loss/sharpen.h"
#include "similarity/pair_judge.h"

namespace gcbs {

/// What the anchors of one direction see of their negatives.
struct Anchors {
  Array<double> log_sum;  ///< log of the sum of exponentials; -infinity for none
  Array<double> most;     ///< the largest similarity, the positive's included
  Array<double> count;    ///< terms of the denominator, the positive's included
};

struct GlobalLoss {
  Anchors x, y;
  ByDirection loss, probability;
  /// No loss of this model, global or in a batch, is further than this from its value by the definition.
  double error_bound = 0;
};

struct OrderLoss {
  ByDirection loss, probability;
  Bounds bounds;  ///< of the direction asked for
  double qbap = 0, qap = 0;
  std::vector<BatchLoss> batches;
};

inline double mean_of(double x, double y) noexcept { return (x + y) / 2; }

struct TrialLoss {
  double mean = 0, deviation = 0, probability = 0;
};

/// X and Y, and what enters their loss.
class LossModel {
 public:
  /// Borrows all it is given. `negatives` (may be null): rows that the anchors of X meet beside the y of
  /// their batch. `largest_table`: up to so many rows everything comes from exact products.
  LossModel(const Rows& x, const Rows& y, const Rows* negatives, const LossOptions& options,
            const Kernel& kernel, const RunContext& run, std::size_t largest_table = 1024);

  const Array<double>& positives() const noexcept { return positives_; }
  const PairJudge& judge() const noexcept { return judge_; }
  const LossPart& pairs() const noexcept { return parts_.front().part; }

  /// One pass over all products.
  GlobalLoss global() const;
  /// Consecutive blocks of `batch_size` rows of the order, the last one what remains. `extras` (may be null):
  /// rows whose y the anchors of X in a batch meet beside those of the batch.
  OrderLoss of_order(std::span<const Vertex> order, std::size_t batch_size, const GlobalLoss& global,
                     const ExtraColumns* extras = nullptr) const;
  /// Over seeded random orders, in the direction asked for.
  TrialLoss of_random(std::size_t batch_size, std::uint64_t seed) const;

  /// The loss of an anchor of pair i whose negatives have this log sum.
  double loss(double log_sum, std::size_t i) const noexcept {
    return softplus_of(log_sum - positives_[i] / options_.temperature);
  }

 private:
  enum class Side : std::uint8_t { none, x, y };
  /// Whose anchors the rows and the columns of a part are.
  struct Entry {
    LossPart part;
    Side rows, cols;
  };
  class BatchTerms;
  class BatchSums;

  void add_fast(const Entry& entry, GlobalLoss& global) const;
  void add_slow(const Entry& entry, GlobalLoss& global) const;
  BlockTerms block_terms(const LossPart& part, std::size_t largest_batch) const;
  /// What an exponent may be wrong by; 0 where all products are exact.
  double moved() const noexcept;
  Sharpener sharpener(Side side) const;
  /// Looks again at the anchors in doubt: of all pairs, of the batches of an order.
  void sharpen(Anchors& anchors, Side side) const;
  void sharpen(std::span<DoubtfulAnchor> anchors, std::span<const Vertex> order, std::size_t batch_size,
               Side side) const;

  std::array<double, 2> trial_limits(std::size_t batch_size, std::uint64_t seed) const;

  const RunContext& run_;
  LossOptions options_;
  const Kernel& kernel_;
  Array<double> positives_;
  PairJudge judge_;
  std::vector<Entry> parts_;
  std::vector<std::unique_ptr<const LossPart>> further_;  ///< parts that only judge
  std::vector<JudgedPart> judged_;
};

}  // namespace gcbs
