// Log sums against long double, whatever the exponents and the order they come in.
#include "loss/terms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace gcbs {
namespace {

double uniform(Random& random, double low, double high) {
  return low + (high - low) * (static_cast<double>(random.next() >> 11) * 0x1p-53);
}

long double log_sum(const std::vector<double>& exponents) {
  long double most = -INFINITY, sum = 0;
  for (const double e : exponents) most = std::max(most, static_cast<long double>(e));
  for (const double e : exponents) sum += std::exp(static_cast<long double>(e) - most);
  return most + std::log(sum);
}

TEST(LogSum, AgreesWithLongDouble) {
  Random random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    const double reach = std::exp(uniform(random, -5, 12)), shift = uniform(random, -1e5, 1e5);
    std::vector<double> exponents(1 + random.below(60));
    for (double& e : exponents) e = shift + uniform(random, -reach, reach);
    if (trial % 5 == 0) std::sort(exponents.begin(), exponents.end());
    if (trial % 5 == 1) std::sort(exponents.rbegin(), exponents.rend());
    LogSum sum, left, right;
    for (std::size_t k = 0; k < exponents.size(); ++k) {
      sum.add(exponents[k]);
      (k % 3 == 0 ? left : right).add(exponents[k]);
    }
    const long double exact = log_sum(exponents);
    const double allowed = 1e-14 * (1 + std::abs(static_cast<double>(exact)));
    ASSERT_NEAR(sum.value(), static_cast<double>(exact), allowed);
    LogSum both = left;
    both.add(right);
    ASSERT_NEAR(both.value(), static_cast<double>(exact), allowed);
    right.add(left);
    ASSERT_NEAR(right.value(), static_cast<double>(exact), allowed);
  }
}

TEST(LogSum, NeverOverflows) {
  for (const double far : {800.0, 1e5, 1e15, 1e300}) {
    LogSum up, down, merged;
    for (const double e : {-far, 0.0, far}) up.add(e);
    for (const double e : {far, 0.0, -far}) down.add(e);
    EXPECT_EQ(up.value(), far);
    EXPECT_EQ(down.value(), far);
    merged.add(up);
    merged.add(down);
    EXPECT_NEAR(merged.value(), far + std::log(2.0), 1e-15 * far);
    LogSum low;
    low.add(-far);
    EXPECT_EQ(low.value(), -far);
  }
}

TEST(LogSum, OfNothingIsMinusInfinity) {
  LogSum none, also_none, some;
  EXPECT_EQ(none.value(), -kInfinity);
  none.add(also_none);
  EXPECT_EQ(none.value(), -kInfinity);
  some.add(3);
  some.add(none);
  EXPECT_EQ(some.value(), 3);
  none.add(some);
  EXPECT_EQ(none.value(), 3);
}

TEST(Terms, GatherWhatTheBoundsRead) {
  const double values[] = {0.5, -0.25, 0.75, 0.0, -1.0};
  Terms all, left, right;
  for (int k = 0; k < 5; ++k) {
    all.add(values[k], 10 * values[k]);
    (k < 2 ? left : right).add(values[k], 10 * values[k]);
  }
  left.add(right);
  for (const Terms& terms : {all, left}) {
    EXPECT_EQ(terms.least, -1);
    EXPECT_EQ(terms.most, 0.75);
    EXPECT_EQ(terms.total, 0);
    EXPECT_EQ(terms.count, 5u);
    EXPECT_NEAR(terms.exponentials.value(), static_cast<double>(log_sum({5, -2.5, 7.5, 0, -10})), 1e-14);
  }
  const Terms none;
  EXPECT_EQ(none.least, kInfinity);
  EXPECT_EQ(none.most, -kInfinity);
  EXPECT_EQ(none.count, 0u);
  all.add(none);
  EXPECT_EQ(all.least, -1);
  EXPECT_EQ(all.count, 5u);
}

}  // namespace
}  // namespace gcbs
