// Batches are independent: each gathers the edges of its rows, adds up by column in the order of the batch,
// sorts by mass, and takes from the top what may be taken. Cost: a sort of the kept edges, batch by batch;
// where suspects are judged, a batch's size of looks for every row that is taken.
#include "batches/extra_columns.h"

#include <algorithm>
#include <vector>

#include "base/elementary.h"

namespace gcbs {
namespace {

struct Share {
  Vertex column;
  Vertex place;  ///< in the batch: sums have a fixed order
  double mass;
};

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

/// Each column once, with all its mass, the heaviest first.
std::vector<Share> ranked_columns(std::span<const Vertex> members, const EdgeMass& mass) {
  std::vector<Vertex> inside(members.begin(), members.end());
  std::sort(inside.begin(), inside.end());
  std::vector<Share> shares;
  for (std::size_t p = 0; p < members.size(); ++p) {
    const Vertex i = members[p];
    const std::span<const Vertex> row = mass.edges.row(i);
    for (std::size_t c = 0; c < row.size(); ++c) {
      const double s = static_cast<double>(mass.values[mass.edges.offsets[i] + c]);
      shares.push_back({row[c], static_cast<Vertex>(p), exp_of(s / mass.temperature - mass.log_sums[i])});
    }
  }
  std::sort(shares.begin(), shares.end(), [](const Share& a, const Share& b) {
    return a.column != b.column ? a.column < b.column : a.place < b.place;
  });
  std::vector<Share> columns;
  for (const Share& share : shares) {
    if (columns.empty() || columns.back().column != share.column)
      columns.push_back(share);
    else
      columns.back().mass += share.mass;
  }
  std::erase_if(columns, [&](const Share& share) {
    return std::binary_search(inside.begin(), inside.end(), share.column);
  });
  std::sort(columns.begin(), columns.end(), [](const Share& a, const Share& b) {
    return a.mass != b.mass ? a.mass > b.mass : a.column < b.column;
  });
  return columns;
}

}  // namespace

ExtraColumns choose_extras(std::span<const Vertex> order, std::size_t batch_size, const EdgeMass& mass,
                           std::size_t columns, const Groups& groups, const SuspectTest& is_suspect,
                           const RunContext& run) {
  const std::size_t n = order.size(), batches = (n + batch_size - 1) / batch_size;
  ExtraColumns extras{batches, columns, Array<std::int64_t>(batches * columns, std::int64_t{-1}, run.meter)};
  parallel_for(
      run, batches, 1,
      [&](std::size_t b, std::size_t, unsigned) {
        const auto members = order.subspan(b * batch_size, std::min(batch_size, n - b * batch_size));
        Chooser chooser(members, groups, is_suspect);
        std::size_t chosen = 0;
        for (const Share& share : ranked_columns(members, mass)) {
          if (chosen == columns) break;
          if (!chooser.admits(share.column)) continue;
          chooser.take(share.column);
          extras.rows[b * columns + chosen++] = share.column;
        }
      },
      Report::progress);
  return extras;
}

}  // namespace gcbs
