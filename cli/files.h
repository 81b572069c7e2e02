// Inputs and outputs named on the command line.
#pragma once

#include <span>
#include <string>

namespace gcbs::cli {

/// Refuses an output that is also an input, or that could not be written now.
void check_output(const std::string& output, std::span<const std::string> inputs);

/// Two outputs must differ; each is called by its flag.
struct OutputFlag {
  const char* flag;
  const std::string& path;  ///< empty: not wanted
};
void check_outputs(std::span<const OutputFlag> outputs, std::span<const std::string> inputs);

/// Throws Error(interrupted) once a signal asked for a stop.
void check_stop();

}  // namespace gcbs::cli
