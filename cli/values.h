// Words of the command line -> values. Each failure says what was given, what is wanted, an example.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "gcbs/error.h"

namespace gcbs::cli {

/// How a flag is called and what errors about it suggest.
struct Flag {
  const char* name;     ///< "-k"
  const char* example;  ///< "-k 64"
};

/// An error of usage: "<flag> <text> is not <wanted>", with the flag's example as the fix.
Error wrong_value(const Flag& flag, std::string_view text, const std::string& wanted);

/// A whole number in [low, high].
std::uint64_t whole_number(const Flag& flag, std::string_view text, std::uint64_t low, std::uint64_t high);
/// A finite number; the caller checks the range.
double real_number(const Flag& flag, std::string_view text);
/// "512M", "8G", "1.5T", "123456": bytes, at least 1; K, M, G, T are powers of 1024.
std::uint64_t byte_count(const Flag& flag, std::string_view text);

/// "rcm, cm, chain".
std::string listed(std::span<const char* const> names);
/// The known word closest to what was typed, if it is close enough to be a slip.
std::optional<std::string> closest(std::string_view typed, std::span<const std::string> known);

/// One of a set of names; `from` maps a name to the value or none.
template <class From>
auto choice(const Flag& flag, std::string_view text, std::span<const char* const> names, From from) {
  if (const auto value = from(text)) return *value;
  throw wrong_value(flag, text, "one of " + listed(names));
}

}  // namespace gcbs::cli
