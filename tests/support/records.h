// Records by their definition: a state a byte, a string a record.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gcbs::test {

/// The records of a text, line ends included; none where a quote is never closed.
inline std::optional<std::vector<std::string>> split_slowly(const std::string& text, bool quoted) {
  enum { kFieldBegins, kInField, kInQuotes, kQuoteInQuotes } state = kFieldBegins;
  std::vector<std::string> records;
  std::string record;
  for (const char c : text) {
    record += c;
    const bool separates = c == ',' || c == ';';
    if (state == kInQuotes) {
      if (c == '"') state = kQuoteInQuotes;
    } else if (c == '\n') {
      records.push_back(record);
      record.clear();
      state = kFieldBegins;
    } else if (quoted && c == '"' && (state == kFieldBegins || state == kQuoteInQuotes)) {
      state = kInQuotes;
    } else {
      state = separates ? kFieldBegins : kInField;
    }
  }
  if (state == kInQuotes) return std::nullopt;
  if (!record.empty()) records.push_back(record);
  return records;
}

inline bool is_blank(const std::string& record) {
  return record == "\n" || record == "\r\n" || record == "\r";
}

/// What find_records returns for text that it does not refuse for its kind; none where the count is wrong.
inline std::optional<std::vector<std::uint64_t>> find_slowly(const std::string& text, bool quoted,
                                                             bool header, std::size_t rows) {
  const std::size_t mark = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  const auto records = split_slowly(text.substr(mark), quoted);
  if (!records) return std::nullopt;
  std::size_t trimmed = records->size();
  while (trimmed > 0 && is_blank((*records)[trimmed - 1])) --trimmed;
  for (const std::size_t count : {trimmed, records->size()}) {
    const bool has_header = header && count == rows + 1;
    if (count != rows && !has_header) continue;
    std::vector<std::uint64_t> starts{mark};
    for (std::size_t i = 0; i < count; ++i) starts.push_back(starts.back() + (*records)[i].size());
    if (has_header) starts.erase(starts.begin());
    return starts;
  }
  return std::nullopt;
}

}  // namespace gcbs::test
