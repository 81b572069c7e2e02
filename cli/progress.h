// What a run shows of itself while it works: one line drawn over on a terminal, rare lines elsewhere.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "gcbs/observer.h"
#include "terminal.h"

namespace gcbs::cli {

/// How far a stage is. `total` 0: unknown; `rows` 0: not known yet.
struct StageProgress {
  std::string stage;
  double done = 0, total = 0, rows = 0, elapsed_seconds = 0;
};

/// "join  [=====>    ]  43 %  1.92 G pairs/s  12 s left": the parts that are known and fit.
std::string status_line(const StageProgress& now, unsigned width);
/// "gcbs: join 43 %, 1.92 G pairs/s, 12 s left".
std::string log_line(const StageProgress& now);

/// The observer of a run. Draws from a thread of its own, so that a slow terminal never holds the
/// work up. Asks the run to stop once a signal wants it.
class Progress final : public Observer {
 public:
  /// `quiet`: shows nothing, and starts no thread.
  Progress(Terminal& terminal, bool quiet);
  ~Progress() override;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// The rows of the run, once they are known: rates are given in rows or pairs of them.
  void set_rows(std::size_t rows);
  /// Ends the display and removes its line. Called twice, does nothing the second time.
  void finish();

  void begin_stage(std::string_view name) override;
  void advance(double done, double total) override;
  bool stop_requested() noexcept override;

 private:
  using Clock = std::chrono::steady_clock;

  void show(const std::stop_token& stopping);
  StageProgress now() const;

  Terminal& terminal_;
  const Clock::time_point run_began_ = Clock::now();
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  StageProgress state_;  ///< elapsed_seconds is filled in by now()
  Clock::time_point stage_began_ = run_began_;
  std::jthread shower_;  ///< last: it reads the others
};

}  // namespace gcbs::cli
