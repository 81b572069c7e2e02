// The help text of the program and of each verb, laid out for an 80-column terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace gcbs::cli {

/// Formats an App. Its description is: a one-line summary, then the usage line and any paragraphs;
/// its footer is printed as it is. Options stand in their groups, in the order of declaration.
class HelpFormatter final : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace gcbs::cli
