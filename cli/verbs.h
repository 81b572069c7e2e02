// The verbs of the program. Each declares its flags and gives back what to do once they are parsed.
#pragma once

#include <functional>

#include "terminal.h"

namespace CLI {
class App;
}

namespace gcbs::cli {

/// Does the verb's work; throws gcbs::Error.
using Action = std::function<void(Terminal&)>;

struct Verb {
  CLI::App* app;  ///< owned by the program's App
  Action action;
};

Verb declare_order(CLI::App& program);
Verb declare_gap(CLI::App& program);
Verb declare_compare(CLI::App& program);
Verb declare_mine(CLI::App& program);
Verb declare_info(CLI::App& program);
Verb declare_completion(CLI::App& program);

}  // namespace gcbs::cli
