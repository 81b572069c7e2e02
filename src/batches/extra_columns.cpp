// Batches are independent: each adds up the shares of its rows' edges by column, in the order of the batch,
// and takes from a heap, the heaviest first, what may be taken. Cost: an exponential and an addition for
// each kept edge, a number a row for each worker; where suspects are judged, a batch's size of looks for
// every row that is taken.
#include "batches/extra_columns.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/elementary.h"

namespace gcbs {
namespace {

class Chooser {
 public:
  Chooser(std::span<const Vertex> members, const Groups& groups, const SuspectTest& is_suspect)
      : members_(members), groups_(groups), is_suspect_(is_suspect), taken_(groups.lists()) {
    for (const Vertex row : members) take(row);
    for (std::vector<Vertex>& groups_taken : taken_) std::sort(groups_taken.begin(), groups_taken.end());
  }

  bool admits(Vertex column) const {
    for (std::size_t l = 0; l < taken_.size(); ++l) {
      const Vertex group = groups_.group_of(l, column);
      const auto batch_end = taken_[l].begin() + static_cast<std::ptrdiff_t>(members_.size());
      if (std::binary_search(taken_[l].begin(), batch_end, group)) return false;
      if (std::find(batch_end, taken_[l].end(), group) != taken_[l].end()) return false;
    }
    return !is_suspect_ || std::none_of(members_.begin(), members_.end(),
                                        [&](Vertex row) { return is_suspect_(row, column); });
  }
  void take(Vertex row) {
    for (std::size_t l = 0; l < taken_.size(); ++l) taken_[l].push_back(groups_.group_of(l, row));
  }

 private:
  std::span<const Vertex> members_;
  const Groups& groups_;
  const SuspectTest& is_suspect_;
  std::vector<std::vector<Vertex>> taken_;  ///< groups by list: the batch's, sorted, then those of extras
};

/// A worker's sums of mass by column, and the columns that have any.
class Masses {
 public:
  Masses(std::size_t columns, MemoryMeter* meter) : sums_(columns, 0.0, meter) {}

  /// Of one batch. Its own rows are left out.
  void gather(std::span<const Vertex> members, const EdgeMass& mass) {
    for (const Vertex column : touched_) sums_[column] = 0;
    touched_.clear();
    for (const Vertex i : members) {
      const std::span<const Vertex> row = mass.edges.row(i);
      for (std::size_t c = 0; c < row.size(); ++c) {
        const double s = static_cast<double>(mass.values[mass.edges.offsets[i] + c]);
        const double share = exp_of(s / mass.temperature - mass.log_sums[i]);
        if (sums_[row[c]] == 0 && share > 0) touched_.push_back(row[c]);
        sums_[row[c]] += share;
      }
    }
    for (const Vertex i : members) sums_[i] = 0;
    heap_.clear();
    for (const Vertex column : touched_)
      if (sums_[column] > 0) heap_.push_back({sums_[column], column});
    std::make_heap(heap_.begin(), heap_.end(), is_lighter);
  }

  bool has_more() const noexcept { return !heap_.empty(); }
  /// The heaviest column that is left, of equal ones the lowest.
  Vertex next() {
    std::pop_heap(heap_.begin(), heap_.end(), is_lighter);
    const Vertex column = heap_.back().column;
    heap_.pop_back();
    return column;
  }

 private:
  struct Heavy {
    double mass;
    Vertex column;
  };
  static bool is_lighter(const Heavy& a, const Heavy& b) noexcept {
    return a.mass != b.mass ? a.mass < b.mass : a.column > b.column;
  }

  Array<double> sums_;
  std::vector<Vertex> touched_;  ///< columns whose sum is above zero, each once
  std::vector<Heavy> heap_;
};

}  // namespace

ExtraColumns choose_extras(std::span<const Vertex> order, std::size_t batch_size, const EdgeMass& mass,
                           std::size_t columns, const Groups& groups, const SuspectTest& is_suspect,
                           const RunContext& run) {
  const std::size_t n = order.size(), batches = (n + batch_size - 1) / batch_size;
  ExtraColumns extras{batches, columns, Array<std::int64_t>(batches * columns, std::int64_t{-1}, run.meter)};
  std::vector<std::optional<Masses>> workers(std::max(run.threads, 1u));
  parallel_for(
      run, batches, 1,
      [&](std::size_t b, std::size_t, unsigned worker) {
        if (!workers[worker]) workers[worker].emplace(n, run.meter);
        Masses& masses = *workers[worker];
        const auto members = order.subspan(b * batch_size, std::min(batch_size, n - b * batch_size));
        Chooser chooser(members, groups, is_suspect);
        masses.gather(members, mass);
        for (std::size_t chosen = 0; chosen < columns && masses.has_more();) {
          run.check_stop();
          const Vertex column = masses.next();
          if (!chooser.admits(column)) continue;
          chooser.take(column);
          extras.rows[b * columns + chosen++] = column;
        }
      },
      Report::progress);
  return extras;
}

}  // namespace gcbs
