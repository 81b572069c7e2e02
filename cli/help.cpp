// Help: summary, usage, arguments, flags by group, example. One look for every verb.
#include "help.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

namespace gcbs::cli {
namespace {

constexpr std::size_t kNameColumn = 2, kTextColumn = 24, kWidth = 79;

/// "  name        text", the text wrapped at word ends and kept in its column.
std::string entry(std::string_view name, const std::string& text) {
  std::string out(kNameColumn, ' ');
  out += name;
  if (out.size() + 2 > kTextColumn) out += "\n";
  std::size_t column = out.back() == '\n' ? 0 : out.size();
  out += std::string(kTextColumn - column, ' ');
  column = kTextColumn;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const bool is_first = column == kTextColumn;
    if (!is_first && column + 1 + word.size() > kWidth) {
      out += "\n" + std::string(kTextColumn, ' ');
      column = kTextColumn;
    } else if (!is_first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  return out + "\n";
}

/// "-k, --batch-size K"
std::string flags_of(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames()) text += (text.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) text += (text.empty() ? "--" : ", --") + name;
  if (option.get_items_expected_max() > 0) text += " " + option.get_type_name();
  return text;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
  const std::string description = app->get_description();
  const std::string summary = first_line(description);
  std::string out = summary + "\n";
  if (summary.size() < description.size()) out += "\n" + description.substr(summary.size() + 1) + "\n";

  std::string arguments;
  std::vector<std::pair<std::string, std::string>> groups;  // title, entries
  for (const CLI::Option* option : app->get_options()) {
    if (option->get_positional()) {
      arguments += entry(option->get_name(true, true), option->get_description());
      continue;
    }
    const std::string& title = option->get_group();
    auto group = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == title; });
    if (group == groups.end()) group = groups.insert(groups.end(), {title, {}});
    group->second += entry(flags_of(*option), option->get_description());
  }
  if (!arguments.empty()) out += "\nArguments:\n" + arguments;

  const auto verbs = app->get_subcommands({});
  if (!verbs.empty()) out += "\nVerbs:\n";
  for (const CLI::App* verb : verbs) out += entry(verb->get_name(), first_line(verb->get_description()));

  for (const auto& [title, entries] : groups) out += "\n" + title + ":\n" + entries;
  if (!app->get_footer().empty()) out += "\n" + app->get_footer() + "\n";
  return out;
}

}  // namespace gcbs::cli
