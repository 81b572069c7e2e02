// exp and log with the same bits on every machine: additions, multiplications and one division in a fixed
// order, no fused operations (the build forbids contraction), no call into the C library.
#pragma once

#include <bit>
#include <cstdint>

namespace gcbs {

/// e^x to within 2 units in the last place; 0 below -708, infinity above 709.
inline double exp_of(double x) noexcept {
  if (!(x > -708)) return x != x ? x : 0.0;
  if (x > 709) return std::bit_cast<double>(std::uint64_t{0x7FF} << 52);
  // x = n ln 2 + r with |r| <= ln 2 / 2; n ln 2 in two parts, the first exact for every n here.
  constexpr double kInverseLn2 = 0x1.71547652b82fep+0, kLn2High = 0x1.62e42fee00000p-1;
  constexpr double kLn2Low = 0x1.a39ef35793c76p-33, kRound = 0x1.8p52;
  const double n = (x * kInverseLn2 + kRound) - kRound;
  const double r = (x - n * kLn2High) - n * kLn2Low;
  // Taylor's series up to r^13 / 13!: the rest is below 2^-60.
  double sum = 1.0 / 6227020800.0;
  constexpr double kFactors[] = {
      1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720,
      1.0 / 120,       1.0 / 24,       1.0 / 6,       0.5,          1.0,         1.0};
  for (const double factor : kFactors) sum = sum * r + factor;
  const auto exponent = static_cast<std::uint64_t>(static_cast<std::int64_t>(n) + 1023);
  return sum * std::bit_cast<double>(exponent << 52);
}

/// The natural logarithm of a positive normal number, to within 2 units in the last place where |log x|
/// is not tiny, and to within 2^-55 absolutely anywhere.
inline double log_of(double x) noexcept {
  constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
  // x = 2^n m with m in [sqrt(1/2), sqrt(2)).
  const auto bits = std::bit_cast<std::uint64_t>(x);
  auto n = static_cast<std::int64_t>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0x000FFFFFFFFFFFFFu) | 0x3FF0000000000000u);
  if (m > 0x1.6a09e667f3bcdp+0) m *= 0.5, ++n;
  // log m = 2 atanh f, f = (m - 1) / (m + 1), |f| < 0.172: the series up to f^23.
  const double f = (m - 1) / (m + 1), f2 = f * f;
  double sum = 0;
  for (int k = 23; k >= 3; k -= 2) sum = (sum + 1.0 / k) * f2;
  const auto count = static_cast<double>(n);
  return count * kLn2High + (2 * f + (2 * f * sum + count * kLn2Low));
}

/// log(1 + e^t), accurate for very small and very large e^t too: the loss of a logit t behind its rival.
inline double softplus_of(double t) noexcept {
  if (t > 40) return t;
  const double u = exp_of(t), v = 1 + u;
  // v - 1 is what the addition kept of u; the quotient puts the rest back.
  return v == 1 ? u : log_of(v) * (u / (v - 1));
}

}  // namespace gcbs
