// `gcbs completion SHELL`: prints the very script that is installed, for those who did not install.
#include "completion.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "verbs.h"

namespace gcbs::cli {
namespace {

void run_completion(const std::optional<std::string>& shell) {
  if (shell == "bash") return print_result(kBashCompletion);
  if (shell == "zsh") return print_result(kZshCompletion);
  throw Error(ErrorKind::usage, shell ? "no completion for '" + *shell + "'" : "the shell is missing",
              "there are scripts for bash and zsh", "for example: source <(gcbs completion bash)");
}

}  // namespace

Verb declare_completion(CLI::App& program) {
  CLI::App* verb = program.add_subcommand("completion",
                                          "Print the completion script of a shell: bash or zsh.\n"
                                          "Usage: gcbs completion SHELL\n\n"
                                          "bash: source <(gcbs completion bash), in ~/.bashrc to keep it.\n"
                                          "zsh: gcbs completion zsh > DIR/_gcbs, DIR being one of $fpath.");
  verb->footer("Example:\n  gcbs completion bash");
  const auto shell = std::make_shared<std::optional<std::string>>();
  verb->add_option("SHELL", *shell, "bash or zsh");
  return {verb, [shell](Terminal&) { run_completion(*shell); }};
}

}  // namespace gcbs::cli
