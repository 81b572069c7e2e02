// Few moves first, certain ones after.
//
// 1. Of each group in a batch the row with the most edges there stays; each other one swaps places with a
//    row of another batch such that both fit. Batches that hold neighbours of the row, and the nearest ones
//    of the order, are tried, and the swap that loses the fewest edges is made.
// 2. What is left: any swap that lowers the number of rows too many; else a swap followed by a second one
//    that together do. For one list this is enough. Let b hold group g twice. Where some batch c without g
//    is at least as large as b less one, its rows are of so many groups that one of them is not in b, or
//    comes twice in c: swapping that one lowers the number. So only the short last batch c can lack g, and
//    all its groups are in b. If one of them, h, is absent from a full batch d, then g goes to c, h to d and
//    a row of d, which has more groups than b can share with it, to b. If none is, the groups of c and g
//    fill every place that batches have for so many groups, and one more: not feasible.
// 3. Several lists: a search that also takes swaps which change nothing or harm, and forbids rows that have
//    just moved to move back (tabu search), up to a bounded number of looks.
#include "batches/separate_groups.h"

#include <array>
#include <deque>
#include <set>
#include <string>

#include "base/random.h"
#include "batches/feasible.h"
#include "gcbs/error.h"

namespace gcbs {
namespace {

constexpr std::size_t kTargets = 6;      // batches with neighbours that are tried
constexpr std::size_t kNear = 2;         // batches near by that are tried where they have a swap
constexpr std::size_t kCandidates = 8;   // rows of a batch whose swap is weighed exactly
constexpr std::size_t kPollEvery = 256;  // rows, or batches, between two looks whether to stop

/// A swap that may be made, and what it costs.
struct Offer {
  Vertex partner = 0;
  std::int64_t loss = 0;
  bool found = false;
};

class Separation {
 public:
  Separation(Seating& seating, const RunContext& run) : seating_(seating), run_(run) {}

  /// Rows that should leave their batch, batch by batch, mates together.
  std::vector<Vertex> misfits() const {
    std::vector<Vertex> result;
    std::vector<Vertex> crowd;
    for (std::size_t b = 0; b < seating_.batches(); ++b) {
      if (b % kPollEvery == 0) run_.check_stop();
      crowd.clear();
      for (const Vertex row : seating_.members(b))
        if (seating_.has_mate(row)) crowd.push_back(row);
      std::stable_sort(crowd.begin(), crowd.end(), [&](Vertex a, Vertex c) {
        return seating_.edges_inside(a) > seating_.edges_inside(c);
      });
      const Groups& groups = seating_.groups();
      std::set<std::pair<std::size_t, Vertex>> seated;
      const std::size_t first = result.size();
      for (const Vertex row : crowd) {
        bool leaves = false;
        for (std::size_t l = 0; l < groups.lists(); ++l)
          leaves = leaves || seated.contains({l, groups.group_of(l, row)});
        if (leaves) {
          result.push_back(row);
          continue;
        }
        for (std::size_t l = 0; l < groups.lists(); ++l) seated.insert({l, groups.group_of(l, row)});
      }
      std::stable_sort(result.begin() + static_cast<std::ptrdiff_t>(first), result.end(),
                       [&](Vertex a, Vertex c) { return groups.group_of(0, a) < groups.group_of(0, c); });
    }
    return result;
  }

  /// The first step. Returns whether the row fits where it is now.
  bool place_cheaply(Vertex row) {
    if (!seating_.has_mate(row)) return true;
    Offer best;
    for (const std::size_t batch : seating_.batches_of_neighbours(row, kTargets)) look_at(row, batch, best);
    const std::size_t own = seating_.batch_of(row), batches = seating_.batches();
    const std::size_t wanted = seating_.graph() == nullptr ? 1 : kNear;
    // Mates that leave the same batch one after the other find the near ones taken by the first.
    const Vertex group = seating_.groups().group_of(0, row);
    if (own != last_own_ || group != last_group_) last_distance_ = 1;
    last_own_ = own;
    last_group_ = group;
    std::size_t seen = 0, distance = last_distance_;
    for (; distance < batches && seen < wanted; ++distance) {
      if (own + distance < batches) seen += look_at(row, own + distance, best);
      if (distance <= own) seen += look_at(row, own - distance, best);
    }
    last_distance_ = seen > 0 ? distance - 1 : 1;
    if (!best.found) return false;
    seating_.swap(row, best.partner);
    return true;
  }

  /// The second step: rows too many become fewer with every turn.
  bool place_surely(Vertex row) {
    if (!seating_.has_mate(row)) return true;
    for (std::size_t b = 0; b < seating_.batches(); ++b) {
      if (b == seating_.batch_of(row)) continue;
      for (const Vertex other : seating_.members(b)) {
        if (seating_.swap_excess(row, other) >= 0) continue;
        swap_and_queue(row, other);
        return true;
      }
    }
    run_.check_stop();
    // The short batch first: with one list it is the only one that can help here.
    std::size_t looks = kLeastLooks + 4 * seating_.rows();
    for (std::size_t b = seating_.batches(); b-- > 0 && looks > 0;) {
      if (b == seating_.batch_of(row) || !seating_.fits(row, b)) continue;
      for (std::size_t p = 0; p < seating_.members(b).size(); ++p)
        if (place_by_two(row, seating_.members(b)[p], looks)) return true;
    }
    return false;
  }

  std::deque<Vertex> queue;

 private:
  static constexpr std::size_t kLeastLooks = 1'000'000;

  void swap_and_queue(Vertex a, Vertex b) {
    seating_.swap(a, b);
    for (const Vertex row : {a, b})
      if (seating_.has_mate(row)) queue.push_back(row);
  }

  /// The row takes the place of `out`, which goes to a third batch where it fits.
  bool place_by_two(Vertex row, Vertex out, std::size_t& looks) {
    run_.check_stop();  // before the swap: it must be undone or completed
    const int first = seating_.swap_excess(row, out);
    seating_.swap(row, out);
    for (std::size_t b = 0; b < seating_.batches() && looks > 0; ++b) {
      --looks;
      if (b == seating_.batch_of(row) || b == seating_.batch_of(out) || !seating_.fits(out, b)) continue;
      for (const Vertex third : seating_.members(b)) {
        looks -= looks > 0;
        if (first + seating_.swap_excess(out, third) >= 0) continue;
        swap_and_queue(out, third);
        if (seating_.has_mate(row)) queue.push_back(row);
        return true;
      }
    }
    seating_.swap(row, out);
    return false;
  }

  /// Whether the batch has a row that may swap with this one. Of those with the fewest edges to lose, the
  /// best is kept.
  bool look_at(Vertex row, std::size_t batch, Offer& best) {
    if (!seating_.fits(row, batch)) return false;
    const std::size_t own = seating_.batch_of(row);
    std::array<Vertex, kCandidates> candidates{};
    std::size_t count = 0;
    const std::size_t most = seating_.graph() == nullptr ? 1 : kCandidates;
    for (const Vertex other : seating_.members(batch)) {
      if (count == most &&
          (most == 1 || seating_.edges_inside(other) >= seating_.edges_inside(candidates[count - 1])))
        continue;
      if (!seating_.fits(other, own)) continue;
      std::size_t at = count < most ? count++ : count - 1;
      for (; at > 0 && seating_.edges_inside(candidates[at - 1]) > seating_.edges_inside(other); --at)
        candidates[at] = candidates[at - 1];
      candidates[at] = other;
    }
    for (std::size_t c = 0; c < count; ++c) {
      const std::int64_t loss = seating_.swap_loss(row, candidates[c]);
      if (!best.found || loss < best.loss) best = {candidates[c], loss, true};
    }
    return count > 0;
  }

  Seating& seating_;
  const RunContext& run_;
  std::size_t last_own_ = ~std::size_t{0}, last_distance_ = 1;
  Vertex last_group_ = 0;
};

/// The third step. Returns whether no mates are left.
bool search(Seating& seating, const RunContext& run) {
  constexpr std::size_t kMostLooks = 30'000'000, kLooksATurn = 20'000, kLeastRest = 8, kRestSpread = 16;
  Random random(seating.rows());
  std::vector<std::size_t> rests(seating.rows(), 0);  // the turn from which a row may move again
  std::vector<Vertex> crowd;
  for (Vertex row = 0; row < seating.rows(); ++row)
    if (seating.has_mate(row)) crowd.push_back(row);
  std::size_t looks = 0;
  for (std::size_t turn = 1; looks < kMostLooks; ++turn) {
    run.check_stop();
    std::erase_if(crowd, [&](Vertex row) { return !seating.has_mate(row); });
    if (crowd.empty()) return true;
    const Vertex row = crowd[random.below(crowd.size())];
    const std::size_t n = seating.rows(), tried = std::min(n, kLooksATurn), start = random.below(n);
    looks += tried;
    Vertex best = row;
    int least = 1 << 20;
    for (std::size_t t = 0; t < tried; ++t) {
      const Vertex other = seating.order()[(start + t) % n];
      if (seating.batch_of(other) == seating.batch_of(row) || rests[other] > turn) continue;
      const int change = seating.swap_excess(row, other);
      if (change < least) least = change, best = other;
    }
    if (best == row) continue;
    for (const Vertex moved : {row, best}) rests[moved] = turn + kLeastRest + random.below(kRestSpread);
    seating.swap(row, best);
    // Rows that met a mate by this join the crowd.
    for (const Vertex moved : {row, best})
      for (const Vertex other : seating.members(seating.batch_of(moved)))
        if (seating.has_mate(other)) crowd.push_back(other);
    std::sort(crowd.begin(), crowd.end());
    crowd.erase(std::unique(crowd.begin(), crowd.end()), crowd.end());
  }
  return false;
}

[[noreturn]] void refuse(const Seating& seating, std::span<const GroupIds> ids, std::size_t batch_size) {
  const Groups& groups = seating.groups();
  std::size_t left = 0, list = 0;
  Vertex example = 0;
  for (Vertex row = 0; row < seating.rows(); ++row) {
    if (!seating.has_mate(row)) continue;
    if (left++ > 0) continue;
    example = row;
    for (const Vertex other : seating.members(seating.batch_of(row)))
      for (std::size_t l = 0; l < groups.lists(); ++l)
        if (other != row && groups.group_of(l, other) == groups.group_of(l, row)) list = l;
  }
  throw Error(ErrorKind::input, "groups could not be kept apart in batches of " + std::to_string(batch_size),
              std::to_string(left) + " rows still share a batch with a mate, the first of them row " +
                  std::to_string(example) + " of " + name_of_group(groups, ids, list, example) +
                  ", which has " + std::to_string(groups.members(list, example).size()) + " rows",
              "use a smaller batch size, or fewer lists of groups");
}

}  // namespace

void separate_groups(Seating& seating, std::span<const GroupIds> ids, std::size_t batch_size,
                     const RunContext& run) {
  if (seating.groups().empty()) return;
  check_feasible(seating.groups(), ids, seating.rows(), batch_size);
  Separation separation(seating, run);
  const std::vector<Vertex> misfits = separation.misfits();
  for (std::size_t i = 0; i < misfits.size(); ++i) {
    if (i % kPollEvery == 0) run.check_stop();
    if (!separation.place_cheaply(misfits[i])) separation.queue.push_back(misfits[i]);
  }
  bool stuck = false;
  while (!separation.queue.empty()) {
    const Vertex row = separation.queue.front();
    separation.queue.pop_front();
    stuck = !separation.place_surely(row) || stuck;
  }
  if (stuck && !search(seating, run)) refuse(seating, ids, batch_size);
}

}  // namespace gcbs
