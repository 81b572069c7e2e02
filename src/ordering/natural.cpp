// The rows as they are: what a trainer without a shuffle would see, and the no-op of the stage.
#include <numeric>

#include "ordering/orders.h"

namespace gcbs {

Order order_natural(std::size_t vertices) {
  Order order;
  order.old_of_new.resize(vertices);
  std::iota(order.old_of_new.begin(), order.old_of_new.end(), Vertex{0});
  return order;
}

}  // namespace gcbs
