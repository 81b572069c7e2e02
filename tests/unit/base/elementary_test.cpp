// exp, log and softplus against long double, over their whole range and at its edges.
#include "base/elementary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace gcbs {
namespace {

double uniform(Random& random, double low, double high) {
  return low + (high - low) * (static_cast<double>(random.next() >> 11) * 0x1p-53);
}

TEST(Elementary, ExpIsWithinTwoUnits) {
  Random random(1);
  for (int i = 0; i < 200000; ++i) {
    const double x = i % 2 == 0 ? uniform(random, -707.9, 708.9) : uniform(random, -1, 1);
    const long double exact = std::exp(static_cast<long double>(x));
    ASSERT_LE(std::abs((static_cast<long double>(exp_of(x)) - exact) / exact), 2 * 0x1p-52L) << x;
  }
  EXPECT_EQ(exp_of(0), 1);
  EXPECT_EQ(exp_of(-1000), 0);
  EXPECT_EQ(exp_of(1000), std::numeric_limits<double>::infinity());
  EXPECT_EQ(exp_of(-std::numeric_limits<double>::infinity()), 0);
  EXPECT_TRUE(std::isnan(exp_of(std::nan(""))));
}

TEST(Elementary, LogIsWithinTwoUnits) {
  Random random(2);
  for (int i = 0; i < 200000; ++i) {
    const double x = i % 2 == 0 ? std::exp(uniform(random, -700, 700)) : uniform(random, 0.5, 2);
    const long double exact = std::log(static_cast<long double>(x));
    ASSERT_LE(std::abs(static_cast<long double>(log_of(x)) - exact),
              2 * 0x1p-52L * std::abs(exact) + 0x1p-55L)
        << x;
  }
  EXPECT_EQ(log_of(1), 0);
}

TEST(Elementary, SoftplusIsWithinAFewUnits) {
  Random random(3);
  for (int i = 0; i < 200000; ++i) {
    const double t = i % 3 == 0   ? uniform(random, -707.9, 1000)
                     : i % 3 == 1 ? uniform(random, -45, 45)
                                  : uniform(random, -1, 1);
    const auto exact = t > 0
                           ? static_cast<long double>(t) + std::log1p(std::exp(-static_cast<long double>(t)))
                           : std::log1p(std::exp(static_cast<long double>(t)));
    ASSERT_LE(std::abs((static_cast<long double>(softplus_of(t)) - exact) / exact), 6 * 0x1p-52L) << t;
  }
  EXPECT_EQ(softplus_of(-1000), 0);
  EXPECT_EQ(softplus_of(1e300), 1e300);
  EXPECT_EQ(softplus_of(-std::numeric_limits<double>::infinity()), 0);
  EXPECT_EQ(softplus_of(std::numeric_limits<double>::infinity()), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace gcbs
