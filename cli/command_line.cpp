// Parsing. CLI11 knows the grammar; its words for errors and its help are replaced by ours.
//
// Unknown words are collected instead of refused, and required flags are checked by the verbs, so
// that a misspelt flag is named as such, not reported as the absence of the one that was meant.
#include "command_line.h"

#include <CLI/CLI.hpp>
#include <vector>

#include "gcbs/version.h"
#include "help.h"
#include "values.h"

namespace gcbs::cli {
namespace {

/// All flags that a verb knows, as they are typed.
std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string help_hint(const std::string& path) { return "see " + path + " --help"; }

[[noreturn]] void refuse_extra(const CLI::App& app, const std::string& path, std::string word) {
  if (word.size() < 2 || word[0] != '-') {
    throw Error(ErrorKind::usage, "unexpected argument '" + word + "'",
                path + " takes no more than those in its usage line", help_hint(path));
  }
  word = word.substr(0, word.find('='));
  const std::vector<std::string> known = flags_of(app);
  const auto guess = closest(word, known);
  throw Error(ErrorKind::usage, "unknown flag " + word, path + " has no such flag",
              guess ? "did you mean " + *guess + "?" : help_hint(path));
}

[[noreturn]] void refuse_verb(const CLI::App& program, const std::string& word) {
  std::vector<std::string> verbs;
  std::string all;
  for (const CLI::App* verb : program.get_subcommands({})) {
    verbs.push_back(verb->get_name());
    all += (all.empty() ? "" : ", ") + verb->get_name();
  }
  const auto guess = closest(word, verbs);
  throw Error(ErrorKind::usage, "unknown verb '" + word + "'", "the verbs are " + all,
              guess ? "did you mean gcbs " + *guess + "?" : help_hint("gcbs"));
}

/// CLI11's error in our words. Flags take words and the verbs judge them, so that a wrong number of
/// values is all that is left to go wrong; the text begins with "--flag:".
Error mismatch(const CLI::ParseError& error, const std::string& path) {
  const std::string text = error.what();
  std::string flag = text.substr(0, text.find_first_of(": "));
  if (flag[0] != '-') flag = "--" + flag;
  if (text.find("missing") != std::string::npos)
    return Error(ErrorKind::usage, flag + " has no value", "a value has to follow it", help_hint(path));
  if (text.find("received") != std::string::npos)
    return Error(ErrorKind::usage, flag + " is given more than once", "only one value can hold",
                 "leave all but one out");
  if (text.find("override") != std::string::npos)
    return Error(ErrorKind::usage, flag + " takes no value", "it is on or absent", "write just " + flag);
  return Error(ErrorKind::usage, text, "the command line cannot be understood", help_hint(path));
}

/// Usage, help and version go by CLI11's exceptions; true: the text to print is in `text`.
bool parse(CLI::App& program, int argc, const char* const* argv, std::string& text) {
  try {
    program.parse(argc, argv);
    return false;
  } catch (const CLI::CallForHelp&) {
    text = program.help();
  } catch (const CLI::CallForVersion&) {
    text = "gcbs " GCBS_VERSION "\n";
  } catch (const CLI::ParseError& error) {
    const auto chosen = program.get_subcommands();
    const std::string path = chosen.empty() ? "gcbs" : "gcbs " + chosen.front()->get_name();
    throw mismatch(error, path);
  }
  return true;
}

}  // namespace

Command parse_command_line(int argc, const char* const* argv) {
  CLI::App program(
      "gcbs decides which samples of a contrastive training set share a batch.\n"
      "Usage: gcbs VERB ...",
      "gcbs");
  program.formatter(std::make_shared<HelpFormatter>());
  program.footer(
      "Example:\n  gcbs order X.npy Y.npy -k 64 -o order.npy\n\n"
      "gcbs VERB --help tells more.");
  program.set_help_flag("-h,--help", "print this help");
  program.set_version_flag("--version", GCBS_VERSION, "print the version");
  program.allow_extras();
  const std::vector<Verb> verbs{declare_order(program), declare_gap(program),  declare_compare(program),
                                declare_mine(program),  declare_info(program), declare_completion(program)};
  for (const Verb& verb : verbs) {
    verb.app->allow_extras();
    verb.app->set_help_flag("-h,--help", "print this help")->group("Run");
    verb.app->set_version_flag("--version", GCBS_VERSION, "print the version")->group("Run");
    for (CLI::Option* option : verb.app->get_options({}))
      if (option->get_items_expected_max() == 0) option->disable_flag_override();
  }

  std::string text;
  if (parse(program, argc, argv, text)) return {text, {}};
  for (const Verb& verb : verbs) {
    if (!verb.app->parsed()) continue;
    const std::string path = "gcbs " + verb.app->get_name();
    for (const std::string& word : verb.app->remaining()) refuse_extra(*verb.app, path, word);
    return {{}, verb.action};
  }
  for (const std::string& word : program.remaining()) {
    if (word[0] == '-') refuse_extra(program, "gcbs", word);
    refuse_verb(program, word);
  }
  throw Error(ErrorKind::usage, "no verb given", "gcbs does nothing without one",
              "try gcbs --help, or gcbs order X.npy Y.npy -k 64 -o order.npy");
}

}  // namespace gcbs::cli
