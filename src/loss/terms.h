// What is gathered over the negatives of an anchor.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/elementary.h"

namespace gcbs {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// log of a sum of exponentials, without overflow whatever the exponents.
class LogSum {
 public:
  void add(double exponent) noexcept {
    if (exponent <= most_) {
      sum_ += exp_of(exponent - most_);
    } else {
      sum_ = sum_ * exp_of(most_ - exponent) + 1;
      most_ = exponent;
    }
  }
  void add(const LogSum& other) noexcept {
    if (other.sum_ == 0) return;
    if (other.most_ <= most_) {
      sum_ += other.sum_ * exp_of(other.most_ - most_);
    } else {
      sum_ = sum_ * exp_of(most_ - other.most_) + other.sum_;
      most_ = other.most_;
    }
  }
  /// -infinity for none.
  double value() const noexcept { return sum_ == 0 ? -kInfinity : most_ + log_of(sum_); }

 private:
  double most_ = -kInfinity, sum_ = 0;
};

/// The sum in the loss and the similarities that the bounds read.
struct Terms {
  LogSum exponentials;  ///< of s / temperature
  double least = kInfinity, most = -kInfinity, total = 0;
  std::uint64_t count = 0;

  void add(double s, double exponent) noexcept {
    exponentials.add(exponent);
    least = std::min(least, s);
    most = std::max(most, s);
    total += s;
    ++count;
  }
  void add(const Terms& other) noexcept {
    exponentials.add(other.exponentials);
    least = std::min(least, other.least);
    most = std::max(most, other.most);
    total += other.total;
    count += other.count;
  }
};

}  // namespace gcbs
