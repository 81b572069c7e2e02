// What signals do to a run: stop it, end it at once, or tell of a file that shrank under it.
#pragma once

#include "gcbs/io.h"

namespace gcbs::cli {

/// SIGINT, SIGTERM and SIGHUP ask for a stop (a second one ends the program at once, temporaries
/// removed); SIGBUS in a mapped input becomes words and exit code 3; SIGPIPE and SIGXFSZ are ignored,
/// so that the write that met them fails and is reported. Call once, first thing.
void install_signal_handlers();

/// The signal that asked for a stop, or 0. Thread-safe.
int stop_signal() noexcept;

/// The writing of outputs, which polls nobody: the first signal ends the program at once, and none of
/// them appears. Throws Error(interrupted) if a stop was asked for before. At most one at a time.
class WritePhase {
 public:
  WritePhase();
  ~WritePhase();
  WritePhase(const WritePhase&) = delete;
  WritePhase& operator=(const WritePhase&) = delete;

  /// Where the outputs wait for each other.
  OutputFiles* files() noexcept { return &files_; }
  /// All outputs are complete: puts them in place, and lets no signal part them.
  void commit();

 private:
  OutputFiles files_;
};

}  // namespace gcbs::cli
