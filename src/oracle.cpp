#include "oracle.h"

#include <algorithm>
#include <cmath>

#include "mining/top_rows.h"
#include "similarity/tile_scan.h"

namespace gcbs {
namespace {

/// Contract C10's two-sided test: s(i,j) and s(j,i) against both pairs' limits.
class NotSuspect final : public PairFilter {
 public:
  /// Columns of one of x, y for rows of the other; `values` are similarities of X and Y.
  NotSuspect(const LossRows& rows, const Array<double>& limit, bool judges_its_own, bool swapped)
      : rows_(rows), limit_(limit), judges_its_own_(judges_its_own), swapped_(swapped) {}

  bool admits(Vertex row, Vertex column, double low, double high) const override {
    const double limit = std::min(limit_[row], limit_[column]);
    if (judges_its_own_ && low > limit) return false;
    Definition definition(rows_.x, rows_.y);
    const auto exceeds = [&](Vertex i, Vertex j) {
      const FinePair pair{i, j};
      const double near = definition.near(pair), bound = definition.near_bound();
      if (near - bound > limit) return true;
      if (near + bound <= limit) return false;
      double exact = 0;
      definition.evaluate({&pair, 1}, {&exact, 1});
      return exact > limit;
    };
    const Vertex i = swapped_ ? column : row, j = swapped_ ? row : column;
    if ((!judges_its_own_ || high > limit) && exceeds(i, j)) return false;
    return !exceeds(j, i);
  }

 private:
  const LossRows& rows_;
  const Array<double>& limit_;
  bool judges_its_own_;  ///< the products looked at are those of X and Y
  bool swapped_;         ///< of Y and X
};

/// Adds the exponentials of the best columns of each row.
class Hardest {
 public:
  Hardest(const LossRows& rows, const LossModel& model, const LossOptions& options, std::size_t batch_size,
          const Kernel& kernel, const RunContext& run)
      : rows_(rows),
        model_(model),
        options_(options),
        kernel_(kernel),
        run_(run),
        top_(std::min(batch_size, rows.x.count()) - 1),
        sums_(rows.x.count()) {}

  void add(const Rows& left, const Rows& right, bool paired) {
    MiningOptions mining;
    mining.top = top_;
    if (paired) mining.groups = options_.filter.groups;
    const bool between = &left != &right && paired, swapped = &left == &rows_.y;
    const NotSuspect filter(rows_, model_.admissible().limit, between, swapped);
    const Exclusions exclusions(left.count(), right.count(), {}, mining.groups);
    const TopRows top = find_top_rows(
        left, right, exclusions, mining, kernel_, run_, [](std::string_view) {},
        paired && model_.admissible().has_margins() ? &filter : nullptr);
    for (std::size_t i = 0; i < sums_.size(); ++i)
      for (std::size_t k = i * top_; k < (i + 1) * top_ && top.columns[k] >= 0; ++k)
        sums_[i].add(top.scores[k] / options_.temperature);
  }

  /// The negative of the pair itself, which every batch with it has.
  void add_own(const Rows& left, const Rows& right) {
    Definition definition(left, right);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      const FinePair pair{static_cast<Vertex>(i), static_cast<Vertex>(i)};
      double s = 0;
      definition.evaluate({&pair, 1}, {&s, 1});
      sums_[i].add(s / options_.temperature);
    }
  }

  double mean_loss() const {
    double sum = 0;
    for (std::size_t i = 0; i < sums_.size(); ++i) sum += model_.loss(sums_[i].value(), i);
    return sum / static_cast<double>(sums_.size());
  }

 private:
  const LossRows& rows_;
  const LossModel& model_;
  const LossOptions& options_;
  const Kernel& kernel_;
  const RunContext& run_;
  std::size_t top_;
  std::vector<LogSum> sums_;
};

}  // namespace

double oracle_loss(const LossRows& rows, const LossModel& model, const LossOptions& options,
                   std::size_t batch_size, const Kernel& kernel, const RunContext& run) {
  const auto of_side = [&](const Rows& own, const Rows& other) {
    Hardest hardest(rows, model, options, batch_size, kernel, run);
    hardest.add(own, other, true);
    if (options.form == Form::simclr) hardest.add(own, own, true);
    if (rows.negatives != nullptr && &own == &rows.x) {
      hardest.add(own, *rows.negatives, false);
      hardest.add_own(own, *rows.negatives);
    }
    return hardest.mean_loss();
  };
  if (options.direction == Direction::x) return of_side(rows.x, rows.y);
  if (options.direction == Direction::y) return of_side(rows.y, rows.x);
  return (of_side(rows.x, rows.y) + of_side(rows.y, rows.x)) / 2;
}

double oracle_bytes(std::size_t rows, std::size_t cols, std::size_t batch_size, unsigned threads) {
  const auto n = static_cast<double>(rows);
  return 2 * operand_bytes(rows, cols) + n * static_cast<double>(batch_size) * 16 +
         contender_bytes(rows, batch_size, threads) + 200 * n;
}

}  // namespace gcbs
