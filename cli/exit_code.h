// How the program ends. Scripts may rely on these numbers.
#pragma once

namespace gcbs::cli {

enum class ExitCode : int {
  done = 0,
  internal = 1,     ///< a bug of ours
  usage = 2,        ///< wrong whatever the data
  input = 3,        ///< the data, or a flag that does not fit it
  unsupported = 4,  ///< this machine or build cannot
  resource = 5,     ///< memory, disk, an output that cannot be written
};

/// Ended by a signal: 130 for SIGINT, 143 for SIGTERM, as shells count.
constexpr int exit_code_of_signal(int signal) { return 128 + signal; }

}  // namespace gcbs::cli
