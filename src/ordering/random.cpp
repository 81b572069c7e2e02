// A seeded shuffle: every permutation equally likely, as far as 64 bits of seed go.
//
// Fisher and Yates' shuffle from the end, driven by SplitMix64: the same order for the same seed and
// number of rows on every machine. Cost: O(N) time, the order is all that is held.
#include "base/random.h"

#include <utility>

#include "ordering/orders.h"

namespace gcbs {

Order order_random(std::size_t vertices, std::uint64_t seed) {
  Order order = order_natural(vertices);
  Random random(seed);
  for (std::size_t left = vertices; left > 1; --left)
    std::swap(order.old_of_new[left - 1], order.old_of_new[random.below(left)]);
  return order;
}

}  // namespace gcbs
