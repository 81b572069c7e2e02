// Fisher and Yates' shuffle of blocks, of chosen places, of batches. Each has a stream of its own, so that
// turning one knob leaves the others' draws alone. Cost: O(N) and, with groups, a few looks a block.
#include "batches/arrange.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"

namespace gcbs {
namespace {

constexpr std::size_t kBlocksAhead = 32;
enum class Draw : std::uint64_t { blocks = 1, share = 2, batches = 3 };

Random stream(std::uint64_t seed, Draw draw, std::uint64_t epoch = 0) {
  Random mixed(seed ^ static_cast<std::uint64_t>(draw) * 0xD6E8FEB86659FD93u);
  return Random(mixed.next() + epoch * 0x9FB21C651E98DF25u);
}

template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t left = values.size(); left > 1; --left)
    std::swap(values[left - 1], values[random.below(left)]);
}

/// The groups of one batch at a time: the batch that last had a group is noted with it.
class GroupsOfBatch {
 public:
  GroupsOfBatch(const Groups& groups, std::size_t rows)
      : groups_(groups), last_(groups.lists(), std::vector<std::size_t>(rows, 0)) {}

  void next_batch() { ++batch_; }
  bool has_mate_of(std::span<const Vertex> rows) const {
    for (const Vertex row : rows)
      for (std::size_t l = 0; l < last_.size(); ++l)
        if (last_[l][groups_.group_of(l, row)] == batch_) return true;
    return false;
  }
  void add(std::span<const Vertex> rows) {
    for (const Vertex row : rows)
      for (std::size_t l = 0; l < last_.size(); ++l) last_[l][groups_.group_of(l, row)] = batch_;
  }

 private:
  const Groups& groups_;
  std::size_t batch_ = 0;
  std::vector<std::vector<std::size_t>> last_;  ///< by list and group
};

}  // namespace

std::vector<Vertex> mix_blocks(const std::vector<Vertex>& order, std::size_t block, std::size_t batch_size,
                               const Groups& groups, std::uint64_t seed) {
  const std::size_t whole = order.size() / block;
  std::vector<std::size_t> blocks(whole);
  std::iota(blocks.begin(), blocks.end(), std::size_t{0});
  Random random = stream(seed, Draw::blocks);
  shuffle(blocks, random);
  const auto rows_of = [&](std::size_t b) { return std::span(order).subspan(b * block, block); };
  const std::span<const Vertex> rest = std::span(order).subspan(whole * block);
  std::vector<Vertex> mixed;
  mixed.reserve(order.size());
  GroupsOfBatch seated(groups, order.size());
  for (std::size_t next = 0; next < whole; ++next) {
    if (mixed.size() % batch_size == 0) {
      seated.next_batch();
      if (order.size() - mixed.size() < batch_size) seated.add(rest);
    }
    const std::size_t last = std::min(whole, next + kBlocksAhead);
    std::size_t chosen = next;
    while (chosen < last && seated.has_mate_of(rows_of(blocks[chosen]))) ++chosen;
    if (chosen < last) std::swap(blocks[next], blocks[chosen]);
    const std::span<const Vertex> rows = rows_of(blocks[next]);
    seated.add(rows);
    mixed.insert(mixed.end(), rows.begin(), rows.end());
  }
  mixed.insert(mixed.end(), rest.begin(), rest.end());
  return mixed;
}

std::vector<Vertex> draw_share(std::vector<Vertex> order, std::size_t batch_size, double share,
                               std::uint64_t seed) {
  Random random = stream(seed, Draw::share);
  std::vector<std::size_t> drawn;
  for (std::size_t first = 0; first < order.size(); first += batch_size) {
    std::vector<std::size_t> places(std::min(batch_size, order.size() - first));
    std::iota(places.begin(), places.end(), first);
    const auto count = static_cast<std::size_t>(std::floor(share * static_cast<double>(places.size()) + 0.5));
    for (std::size_t i = 0; i < count; ++i) std::swap(places[i], places[i + random.below(places.size() - i)]);
    std::sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count));
    drawn.insert(drawn.end(), places.begin(), places.begin() + static_cast<std::ptrdiff_t>(count));
  }
  for (std::size_t left = drawn.size(); left > 1; --left)
    std::swap(order[drawn[left - 1]], order[drawn[random.below(left)]]);
  return order;
}

std::vector<Vertex> shuffle_batches(const std::vector<Vertex>& order, std::size_t batch_size,
                                    std::uint64_t seed, std::uint64_t epoch) {
  std::vector<std::size_t> batches(order.size() / batch_size);
  std::iota(batches.begin(), batches.end(), std::size_t{0});
  Random random = stream(seed, Draw::batches, epoch);
  shuffle(batches, random);
  std::vector<Vertex> shuffled;
  shuffled.reserve(order.size());
  for (const std::size_t b : batches) {
    const std::span<const Vertex> rows = std::span(order).subspan(b * batch_size, batch_size);
    shuffled.insert(shuffled.end(), rows.begin(), rows.end());
  }
  shuffled.insert(shuffled.end(), order.begin() + static_cast<std::ptrdiff_t>(shuffled.size()), order.end());
  return shuffled;
}

}  // namespace gcbs
