// How a serial walk stays polite: it polls for a stop and reports progress every so many steps.
#pragma once

#include "base/run.h"

namespace gcbs {

class Pace {
 public:
  Pace(const RunContext& run, std::size_t total) noexcept : run_(run), total_(total) {}

  /// `steps` more steps of a few ns were taken; `done` of `total` units of work are complete.
  void take(std::size_t steps, std::size_t done) {
    taken_ += steps;
    if (taken_ < kStepsBetweenPolls) return;
    taken_ = 0;
    run_.check_stop();
    if (run_.observer != nullptr)
      run_.observer->advance(static_cast<double>(done), static_cast<double>(total_));
  }

 private:
  static constexpr std::size_t kStepsBetweenPolls = std::size_t{1} << 20;
  const RunContext& run_;
  std::size_t total_, taken_ = 0;
};

}  // namespace gcbs
