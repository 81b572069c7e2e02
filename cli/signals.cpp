// Signal handlers. They touch lock-free atomics and call async-signal-safe functions only.
//
// A stop is a flag that the observer reads: workers poll it, the library unwinds, the program says so
// and exits. Two cases cannot wait for that: an impatient second signal, and a signal during the
// writing of outputs. There the handler itself removes what is unfinished and leaves by _exit. Once all
// outputs are complete and are being renamed, a signal comes too late: the run ends as if none had come.
//
// A signal that was ignored when the program started stays ignored (nohup, background jobs of sh).
#include "signals.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>

#include "exit_code.h"
#include "gcbs/error.h"
#include "gcbs/io.h"
#include "terminal.h"

namespace gcbs::cli {
namespace {

enum class Phase : int { working, writing, placing };

std::atomic<int> requested{0};
std::atomic<Phase> phase{Phase::working};
static_assert(std::atomic<Phase>::is_always_lock_free);

void say(std::string_view text) noexcept {
  [[maybe_unused]] const ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
}

void on_stop(int signal) {
  const int saved_errno = errno;
  int none = 0;
  const bool is_first = requested.compare_exchange_strong(none, signal);
  const Phase now = phase.load();
  if (now == Phase::writing || (now == Phase::working && !is_first)) {
    discard_unfinished_writes();
    clear_status_from_signal_handler();
    say("gcbs: interrupted\n");
    _exit(exit_code_of_signal(signal));
  }
  errno = saved_errno;
}

void on_bus_error(int signal, siginfo_t* info, void*) {
  discard_unfinished_writes();
  clear_status_from_signal_handler();
  const char* name = mapped_file_at(info->si_addr);
  if (name == nullptr) {
    // Not an input file: a bug, which deserves its core dump.
    std::signal(signal, SIG_DFL);
    raise(signal);
    return;
  }
  say("gcbs: error: ");
  say(name);
  say(" shrank or became unreadable while it was read\n"
      "  why: another program changed it, or its disk failed\n"
      "  fix: run again on a file that stays as it is until the run ends\n");
  _exit(static_cast<int>(ExitCode::input));
}

void handle_stop(int signal) {
  struct sigaction before {};
  if (sigaction(signal, nullptr, &before) == 0 && before.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = on_stop;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

void install_signal_handlers() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle_stop(signal);
  struct sigaction bus {};
  bus.sa_sigaction = on_bus_error;
  bus.sa_flags = SA_SIGINFO;
  sigaction(SIGBUS, &bus, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int stop_signal() noexcept { return requested.load(std::memory_order_relaxed); }

WritePhase::WritePhase() {
  phase.store(Phase::writing);
  if (stop_signal() != 0) {
    phase.store(Phase::working);
    throw Error(ErrorKind::interrupted, "interrupted");
  }
}

WritePhase::~WritePhase() { phase.store(Phase::working); }

void WritePhase::commit() {
  phase.store(Phase::placing);
  files_.commit();
}

}  // namespace gcbs::cli
