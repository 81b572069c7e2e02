// Numbers are read by std::from_chars: no locale, no partial matches, no silent overflow.
#include "values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <vector>

namespace gcbs::cli {
namespace {

template <class Number>
std::optional<Number> number_from(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

/// Insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

Error wrong_value(const Flag& flag, std::string_view text, const std::string& wanted) {
  return Error(ErrorKind::usage, std::string(flag.name) + " cannot be '" + std::string(text) + "'",
               "it takes " + wanted, "for example " + std::string(flag.example));
}

std::uint64_t whole_number(const Flag& flag, std::string_view text, std::uint64_t low, std::uint64_t high) {
  const auto value = number_from<std::uint64_t>(text);
  if (value && *value >= low && *value <= high) return *value;
  std::string wanted = "a whole number, at least " + std::to_string(low);
  if (high != std::numeric_limits<std::uint64_t>::max()) wanted += ", at most " + std::to_string(high);
  throw wrong_value(flag, text, wanted);
}

double real_number(const Flag& flag, std::string_view text) {
  const auto value = number_from<double>(text);
  if (!value || !std::isfinite(*value)) throw wrong_value(flag, text, "a number");
  return *value;
}

std::uint64_t byte_count(const Flag& flag, std::string_view text) {
  constexpr std::string_view kSuffixes = "KMGT";
  constexpr double kTooMany = 0x1p63;
  std::string_view digits = text;
  double unit = 1;
  if (!text.empty()) {
    const std::size_t power = kSuffixes.find(text.back());
    if (power != std::string_view::npos) {
      unit = std::ldexp(1.0, 10 * (static_cast<int>(power) + 1));
      digits.remove_suffix(1);
    }
  }
  const auto number = number_from<double>(digits);
  const double bytes = number ? *number * unit : 0;
  if (!(bytes >= 1 && bytes < kTooMany))
    throw wrong_value(flag, text, "a number of bytes, or one followed by K, M, G or T (powers of 1024)");
  return static_cast<std::uint64_t>(bytes);
}

std::string listed(std::span<const char* const> names) {
  std::string text;
  for (const char* name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::optional<std::string> closest(std::string_view typed, std::span<const std::string> known) {
  const std::size_t tolerated = typed.size() < 5 ? 1 : 2 + typed.size() / 10;
  std::optional<std::string> best;
  std::size_t best_distance = tolerated + 1;
  for (const std::string& word : known) {
    const std::size_t distance = edit_distance(typed, word);
    if (distance < best_distance) best_distance = distance, best = word;
  }
  return best;
}

}  // namespace gcbs::cli
