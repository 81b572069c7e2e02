// Greedy growth: the free vertex that is tied most closely to the block joins it, until the block is full.
//
// Ensures: every vertex in one block, blocks full but for the last. Deterministic, ties to the lower index.
// Cost: every list once, a few ns an entry; for each vertex that joins, the maxima of the chunks that the
// block's neighbours fill.
//
// An edge counts as its share of the two sums that it would enter over all edges, w / Z: what it adds to the
// objective at first order. Growth by the objective itself costs more, and swaps make up for it. Scores of a
// block's neighbours stand in the order in which they were met, in chunks whose maxima are kept: adding to a
// score is one comparison, where a queue of all scores would take a logarithm.
#include <algorithm>

#include "ordering/pace.h"
#include "ordering/pack_steps.h"

namespace gcbs {
namespace {

constexpr std::size_t kChunk = 64;
constexpr Vertex kUnmet = ~Vertex{0}, kPlaced = kUnmet - 1, kNowhere = kUnmet;

/// Neighbours of the growing block by score, the best to be taken.
class Neighbours {
 public:
  struct Entry {
    Vertex vertex;
    float score;
  };

  void clear() {
    entries_.clear();
    keys_.clear();
    most_.clear();
  }
  /// Returns where the vertex now stands.
  Vertex add(Vertex v) {
    const auto at = static_cast<Vertex>(entries_.size());
    if (at % kChunk == 0) most_.push_back(kNone);
    entries_.push_back({v, 0});
    keys_.push_back(kNone);
    return at;
  }
  void raise(Vertex at, float by) {
    const float score = entries_[at].score += by;
    keys_[at] = score;
    most_[at / kChunk] = std::max(most_[at / kChunk], score);
  }
  /// The best that has not been taken since it was raised last; of equal ones the lowest vertex. Null: none.
  const Entry* take() {
    float best = kNone;
    for (const float most : most_) best = std::max(best, most);
    if (best == kNone) return nullptr;
    std::size_t found = keys_.size();
    for (std::size_t chunk = 0; chunk < most_.size(); ++chunk) {
      if (most_[chunk] != best) continue;
      for (std::size_t at = chunk * kChunk; at < end_of(chunk); ++at)
        if (keys_[at] == best && (found == keys_.size() || entries_[at].vertex < entries_[found].vertex))
          found = at;
    }
    keys_[found] = kNone;
    const std::size_t chunk = found / kChunk;
    most_[chunk] = *std::max_element(keys_.begin() + static_cast<std::ptrdiff_t>(chunk * kChunk),
                                     keys_.begin() + static_cast<std::ptrdiff_t>(end_of(chunk)));
    return &entries_[found];
  }
  std::span<const Entry> entries() const noexcept { return entries_; }

 private:
  static constexpr float kNone = -1;
  std::size_t end_of(std::size_t chunk) const { return std::min(keys_.size(), (chunk + 1) * kChunk); }

  std::vector<Entry> entries_;
  std::vector<float> keys_;  ///< scores, or kNone
  std::vector<float> most_;  ///< of the keys of each chunk
};

class Growth {
 public:
  Growth(const PackModel& model, std::span<const Vertex> seeds, const BlockRules* rules,
         const RunContext& run)
      : model_(model),
        seeds_(seeds),
        rules_(rules),
        seen_(seeds.size(), run.meter),
        refused_(rules == nullptr ? 0 : seeds.size(), kNowhere, run.meter),
        pace_(run, seeds.size()) {
    order_.reserve(seeds.size());
    parallel_for(run, seeds.size(), 1024, [&](std::size_t begin, std::size_t end, unsigned) {
      for (std::size_t v = begin; v < end; ++v)
        seen_[v] = {kUnmet, share(model.graph->out, model.out, v), share(model.graph->in, model.in, v)};
    });
  }

  std::vector<Vertex> run(std::size_t block_size) {
    while (order_.size() < seeds_.size()) grow(std::min(block_size, seeds_.size() - order_.size()));
    return std::move(order_);
  }

 private:
  /// What a scan reads of a neighbour.
  struct Seen {
    Vertex at;  ///< among the block's neighbours; kUnmet, kPlaced
    float share_x, share_y;
  };

  float share(const Edges& edges, const Array<float>& weights, std::size_t v) const {
    double sum = static_cast<double>(model_.base[v]);
    for (EdgeIndex e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e)
      sum += static_cast<double>(weights[e]);
    return static_cast<float>(1 / sum);
  }

  void grow(std::size_t size) {
    first_ = order_.size();
    while (order_.size() < first_ + size) join(next());
    for (const Neighbours::Entry& entry : neighbours_.entries())
      if (seen_[entry.vertex].at != kPlaced) seen_[entry.vertex].at = kUnmet;
    neighbours_.clear();
  }

  /// A vertex that a block refused once does not fit it later: nobody leaves.
  bool fits(Vertex v) {
    if (rules_ == nullptr) return true;
    if (refused_[v] == first_) return false;
    const bool may = rules_->may_join(v, std::span(order_).subspan(first_), v);
    if (!may) refused_[v] = static_cast<Vertex>(first_);
    return may;
  }
  bool is_placed(Vertex v) const noexcept { return seen_[v].at == kPlaced; }

  Vertex next() {
    while (const Neighbours::Entry* best = neighbours_.take())
      if (!is_placed(best->vertex) && fits(best->vertex)) return best->vertex;
    while (is_placed(seeds_[next_seed_])) ++next_seed_;
    for (std::size_t s = next_seed_; s < std::min(seeds_.size(), next_seed_ + kSeedsTried); ++s)
      if (!is_placed(seeds_[s]) && fits(seeds_[s])) return seeds_[s];
    return seeds_[next_seed_];
  }

  void join(Vertex v) {
    const Seen own = seen_[v];
    seen_[v].at = kPlaced;
    order_.push_back(v);
    const auto score = [&](const Edges& edges, const Array<float>& weights, float share, auto share_of) {
      for (EdgeIndex e = edges.offsets[v]; e < edges.offsets[v + 1]; ++e) {
        Seen& seen = seen_[edges.columns[e]];
        if (seen.at == kPlaced) continue;
        if (seen.at == kUnmet) seen.at = neighbours_.add(edges.columns[e]);
        neighbours_.raise(seen.at, weights[e] * (share + share_of(seen)));
      }
    };
    score(model_.graph->out, model_.out, own.share_x, [](const Seen& seen) { return seen.share_y; });
    score(model_.graph->in, model_.in, own.share_y, [](const Seen& seen) { return seen.share_x; });
    pace_.take((model_.graph->out.row(v).size() + model_.graph->in.row(v).size()) * 4, order_.size());
  }

  static constexpr std::size_t kSeedsTried = 4096;
  const PackModel& model_;
  std::span<const Vertex> seeds_;
  const BlockRules* rules_;
  Array<Seen> seen_;
  Array<Vertex> refused_;  ///< where the last block began that a vertex did not fit
  std::vector<Vertex> order_;
  Neighbours neighbours_;
  std::size_t first_ = 0, next_seed_ = 0;
  Pace pace_;
};

}  // namespace

std::vector<Vertex> grow_blocks(const PackModel& model, std::size_t block_size, std::span<const Vertex> seeds,
                                const BlockRules* rules, const RunContext& run) {
  return Growth(model, seeds, rules, run).run(block_size);
}

}  // namespace gcbs
