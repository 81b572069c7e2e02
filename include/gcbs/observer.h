// How a long call talks to its caller: which stage runs, how far it is, and whether to stop.
#pragma once

#include <string>
#include <string_view>

namespace gcbs {

/// A stage that ran: results list theirs in order.
struct Stage {
  std::string name;
  double seconds = 0;
};

/// Override what you need. `begin_stage` and `advance` come from one thread at a time;
/// `stop_requested` is polled by every worker, at least every 50 ms, and must be thread-safe.
class Observer {
 public:
  virtual ~Observer() = default;
  /// A stage begins; the one before it has ended. Names are those of the JSON report.
  virtual void begin_stage(std::string_view /*name*/) {}
  /// `done` of `total` units of the present stage's work are complete.
  virtual void advance(double /*done*/, double /*total*/) {}
  /// True once the work should be dropped; the call then throws Error(interrupted).
  virtual bool stop_requested() noexcept { return false; }
};

}  // namespace gcbs
