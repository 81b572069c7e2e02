// What every stage of one call shares: threads, observer, meter. And the one way to go parallel.
#pragma once

#include <cstddef>
#include <functional>

#include "base/memory.h"
#include "gcbs/observer.h"

namespace gcbs {

struct RunContext {
  unsigned threads = 1;
  Observer* observer = nullptr;  ///< may be null
  MemoryMeter* meter = nullptr;  ///< may be null

  bool stop_requested() const noexcept { return observer != nullptr && observer->stop_requested(); }
  /// Throws Error(interrupted) once the observer wants to stop.
  void check_stop() const;
};

/// Calls body(begin, end, worker) on pieces of [0, count) of at most `grain`, worker < run.threads,
/// worker 0 on the calling thread. Pieces are handed out in order, to whoever is free: results must
/// not depend on who got which. The first exception is rethrown after all threads have ended;
/// an observer's stop becomes Error(interrupted). Reports progress in units of `count` when asked.
enum class Report : bool { silent, progress };
void parallel_for(const RunContext& run, std::size_t count, std::size_t grain,
                  const std::function<void(std::size_t, std::size_t, unsigned)>& body,
                  Report report = Report::silent);

}  // namespace gcbs
