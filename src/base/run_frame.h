// What stands around the work of every public call: memory refused before it starts, arithmetic as
// the contracts want it, stages timed and reported.
#pragma once

#include <cfenv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/stage_clock.h"
#include "gcbs/observer.h"

namespace gcbs {

/// Throws Error(resource) if `needed` is over the limit; 0: over 80 % of what is available. `fix` says
/// what to do about it.
void check_memory(double needed_bytes, std::uint64_t limit_bytes, const std::string& fix);

/// Stage marks go to the clock and the observer.
class Progress {
 public:
  explicit Progress(Observer* observer) : observer_(observer) {}
  void begin(std::string_view name);
  std::vector<Stage> finish();

 private:
  Observer* observer_;
  StageClock clock_;
};

/// Round to nearest, denormals kept: callers may have set the processor otherwise, and new threads
/// inherit it. Put back afterwards.
class StandardArithmetic {
 public:
  StandardArithmetic() {
    std::fegetenv(&callers_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~StandardArithmetic() { std::fesetenv(&callers_); }
  StandardArithmetic(const StandardArithmetic&) = delete;
  StandardArithmetic& operator=(const StandardArithmetic&) = delete;

 private:
  std::fenv_t callers_{};
};

}  // namespace gcbs
