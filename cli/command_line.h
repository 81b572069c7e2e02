// The command line as a whole: CLI11 finds the words, this gives help and errors their form.
#pragma once

#include <optional>
#include <string>

#include "verbs.h"

namespace gcbs::cli {

/// What the words of a command line ask for: text to print, or a verb's work.
struct Command {
  std::optional<std::string> text;  ///< help or version, for stdout
  Action action;
};

/// Throws Error(usage) that names the word that is wrong and, where one is near, the right one.
Command parse_command_line(int argc, const char* const* argv);

}  // namespace gcbs::cli
