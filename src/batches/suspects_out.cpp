// All pairs of every batch are judged once, in parallel. Then rows with the most suspects beside them look
// for another place: in the batches that hold their neighbours, where their edges are, and in the nearest
// ones of the order. They swap with the first row there such that both fit and fewer suspect pairs are left,
// rows that have many suspects beside them being tried first, then those with few edges to lose. Each look
// judges a row against a batch, and all looks together judge at most four times as many pairs as the first
// pass did: suspects may be many, and some cannot be helped.
#include "batches/suspects_out.h"

#include <algorithm>

namespace gcbs {
namespace {

constexpr std::size_t kBatchesTried = 4, kPartnersTried = 3;

class Suspicion {
 public:
  Suspicion(Seating& seating, const SuspectTest& is_suspect, const RunContext& run)
      : seating_(seating), is_suspect_(is_suspect), run_(run), partners_(seating.rows()) {
    parallel_for(run, seating.batches(), 1, [&](std::size_t b, std::size_t, unsigned) {
      const std::span<const Vertex> members = seating.members(b);
      for (std::size_t p = 0; p < members.size(); ++p) {
        run.check_stop();
        for (std::size_t q = 0; q < p; ++q)
          if (is_suspect(members[p], members[q])) {
            partners_[members[p]].push_back(members[q]);
            partners_[members[q]].push_back(members[p]);
          }
      }
    });
    left_ = 2 * seating.rows() * seating.members(0).size();
  }

  std::uint64_t pairs() const {
    std::uint64_t sum = 0;
    for (const std::vector<Vertex>& partners : partners_) sum += partners.size();
    return sum / 2;
  }

  void lower() {
    std::vector<Vertex> rows;
    for (Vertex row = 0; row < seating_.rows(); ++row)
      if (!partners_[row].empty()) rows.push_back(row);
    std::stable_sort(rows.begin(), rows.end(),
                     [&](Vertex a, Vertex b) { return partners_[a].size() > partners_[b].size(); });
    for (const Vertex row : rows) {
      run_.check_stop();
      if (left_ == 0) return;
      if (!partners_[row].empty()) help(row);
    }
  }

 private:
  struct Offer {
    Vertex partner;
    std::vector<Vertex> of_row, of_partner;  ///< suspects they would then have beside them
  };

  /// The rows of a batch that are suspects of `row`, `without` left out.
  std::vector<Vertex> suspects_in(Vertex row, std::size_t batch, Vertex without) {
    std::vector<Vertex> found;
    for (const Vertex other : seating_.members(batch))
      if (other != without && is_suspect_(row, other)) found.push_back(other);
    left_ -= std::min(left_, seating_.members(batch).size());
    return found;
  }

  void help(Vertex row) {
    const std::size_t own = seating_.batch_of(row);
    for (const std::size_t batch : batches_for(row)) {
      if (!seating_.fits(row, batch)) continue;
      const std::vector<Vertex> there = suspects_in(row, batch, row);
      if (there.size() > partners_[row].size()) continue;
      for (const Vertex partner : partners_in(batch, own)) {
        Offer offer{partner, there, suspects_in(partner, own, row)};
        std::erase(offer.of_row, partner);
        if (offer.of_row.size() + offer.of_partner.size() < partners_[row].size() + partners_[partner].size())
          return make(row, std::move(offer));
      }
    }
  }

  void make(Vertex row, Offer offer) {
    for (const Vertex moved : {row, offer.partner})
      for (const Vertex other : partners_[moved]) std::erase(partners_[other], moved);
    seating_.swap(row, offer.partner);
    partners_[row] = std::move(offer.of_row);
    partners_[offer.partner] = std::move(offer.of_partner);
    for (const Vertex moved : {row, offer.partner})
      for (const Vertex other : partners_[moved]) partners_[other].push_back(moved);
  }

  /// First those with its neighbours, then the nearest.
  std::vector<std::size_t> batches_for(Vertex row) const {
    const std::size_t own = seating_.batch_of(row), batches = seating_.batches();
    std::vector<std::size_t> result = seating_.batches_of_neighbours(row, kBatchesTried / 2);
    const auto add = [&](std::size_t batch) {
      if (std::find(result.begin(), result.end(), batch) == result.end()) result.push_back(batch);
    };
    for (std::size_t distance = 1; distance < batches && result.size() < kBatchesTried; ++distance) {
      if (own + distance < batches) add(own + distance);
      if (distance <= own) add(own - distance);
    }
    return result;
  }

  /// Rows of a batch that fit into `own`: the most suspected first, then those with the fewest edges.
  std::vector<Vertex> partners_in(std::size_t batch, std::size_t own) const {
    const std::span<const Vertex> members = seating_.members(batch);
    std::vector<Vertex> rows(members.begin(), members.end());
    std::stable_sort(rows.begin(), rows.end(), [&](Vertex a, Vertex b) {
      if (partners_[a].size() != partners_[b].size()) return partners_[a].size() > partners_[b].size();
      return seating_.edges_inside(a) < seating_.edges_inside(b);
    });
    std::vector<Vertex> result;
    for (const Vertex row : rows) {
      if (result.size() == kPartnersTried) break;
      if (seating_.fits(row, own)) result.push_back(row);
    }
    return result;
  }

  Seating& seating_;
  const SuspectTest& is_suspect_;
  const RunContext& run_;
  std::vector<std::vector<Vertex>> partners_;  ///< of each row: suspects in its batch
  std::size_t left_;
};

}  // namespace

std::uint64_t keep_suspects_out(Seating& seating, const SuspectTest& is_suspect, const RunContext& run) {
  Suspicion suspicion(seating, is_suspect, run);
  suspicion.lower();
  return suspicion.pairs();
}

}  // namespace gcbs
