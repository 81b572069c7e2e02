#include <array>

#include "gcbs/similarity.h"

namespace gcbs {
namespace {

template <class Value>
struct Name {
  Value value;
  const char* name;
};
constexpr std::array kModes{Name<ThresholdMode>{ThresholdMode::exact, "exact"},
                            Name<ThresholdMode>{ThresholdMode::estimate, "estimate"},
                            Name<ThresholdMode>{ThresholdMode::paper, "paper"}};
constexpr std::array kShortcuts{Name<Shortcut>{Shortcut::automatic, "auto"},
                                Name<Shortcut>{Shortcut::on, "on"}, Name<Shortcut>{Shortcut::off, "off"}};

template <class Table, class Value>
const char* find_name(const Table& table, Value value) {
  for (const auto& entry : table)
    if (entry.value == value) return entry.name;
  return "unknown";
}

template <class Value, class Table>
std::optional<Value> find_value(const Table& table, std::string_view name) {
  for (const auto& entry : table)
    if (name == entry.name) return entry.value;
  return {};
}

}  // namespace

const char* name_of(ThresholdMode mode) noexcept { return find_name(kModes, mode); }
const char* name_of(Shortcut shortcut) noexcept { return find_name(kShortcuts, shortcut); }
std::optional<ThresholdMode> threshold_mode_from(std::string_view name) noexcept {
  return find_value<ThresholdMode>(kModes, name);
}
std::optional<Shortcut> shortcut_from(std::string_view name) noexcept {
  return find_value<Shortcut>(kShortcuts, name);
}

}  // namespace gcbs
