#include "oracle.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "graph_filter.h"
#include "mining/top_rows.h"
#include "similarity/tile_scan.h"

namespace gcbs {
namespace {

/// Adds the exponentials of the best columns of each row.
class Hardest {
 public:
  /// `judge`: of suspects; null: there are none.
  Hardest(const LossRows& rows, const LossModel& model, const QuickJudge* judge, const LossOptions& options,
          std::size_t batch_size, const Kernel& kernel, const RunContext& run)
      : model_(model),
        judge_(judge),
        options_(options),
        kernel_(kernel),
        run_(run),
        top_(std::min(batch_size, rows.x.count()) - 1),
        sums_(rows.x.count()) {}

  void add(const Rows& left, const Rows& right, bool paired) {
    MiningOptions mining;
    mining.top = top_;
    std::optional<NotSuspect> filter;
    if (paired && judge_ != nullptr) filter.emplace(*judge_, &left != &right && !model_.judge().is_guided());
    const Exclusions exclusions(left.count(), paired ? model_.judge().groups() : Groups());
    const TopRows top = find_top_rows(
        left, right, exclusions, mining, kernel_, run_, [](std::string_view) {}, filter ? &*filter : nullptr);
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
  const LossModel& model_;
  const QuickJudge* judge_;
  const LossOptions& options_;
  const Kernel& kernel_;
  const RunContext& run_;
  std::size_t top_;
  std::vector<LogSum> sums_;
};

}  // namespace

double oracle_loss(const LossRows& rows, const LossModel& model, const LossOptions& options,
                   std::size_t batch_size, const Kernel& kernel, const RunContext& run) {
  std::optional<QuickJudge> judge;
  if (model.judge().has_margins()) judge.emplace(model.judge(), nullptr, rows.x, rows.y, kernel, run);
  const auto of_side = [&](const Rows& own, const Rows& other) {
    Hardest hardest(rows, model, judge ? &*judge : nullptr, options, batch_size, kernel, run);
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

double oracle_bytes(std::size_t rows, std::size_t cols, std::size_t batch_size, bool judges,
                    unsigned threads) {
  const auto n = static_cast<double>(rows);
  return 2 * operand_bytes(rows, cols) + (judges ? 2 * fine_bytes(rows, cols) : 0) +
         n * static_cast<double>(batch_size) * 16 + contender_bytes(rows, batch_size, threads) + 200 * n;
}

}  // namespace gcbs
