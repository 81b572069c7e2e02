#include <gtest/gtest.h>

#include "ordering/orders.h"

namespace gcbs {
namespace {

TEST(Natural, LeavesTheRowsAsTheyAre) {
  EXPECT_TRUE(order_natural(0).old_of_new.empty());
  EXPECT_EQ(order_natural(4).old_of_new, (std::vector<Vertex>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace gcbs
