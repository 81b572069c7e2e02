// The completion scripts of completions/, built into the program.
#pragma once

#include <string_view>

namespace gcbs::cli {

extern const std::string_view kBashCompletion, kZshCompletion;

}  // namespace gcbs::cli
