// Any bytes as a file of records: found as the definition finds them, or refused with an Error.
#include <algorithm>
#include <string>

#include "../support/records.h"
#include "believe.h"
#include "io/records.h"

namespace {

/// True where the bytes may be refused for what they are, whatever their records.
bool may_be_foreign(const std::string& text) {
  const std::size_t mark = text.starts_with("\xef\xbb\xbf") ? 3 : 0;
  const std::size_t first = text.find_first_not_of(" \t\r", mark);
  return text.find('\0') != std::string::npos || text.starts_with("\x1f\x8b") ||
         text.starts_with("\x28\xb5\x2f\xfd") || text.starts_with("BZh") ||
         (first != std::string::npos && text[first] == '[');
}

void check(const std::vector<std::byte>& bytes, const std::string& text, const std::string& path,
           std::size_t rows) {
  const gcbs::RecordFormat format = gcbs::format_of(path);
  const auto expected = gcbs::test::find_slowly(text, format.quoted, format.header, rows);
  try {
    if (gcbs::find_records(bytes, path, rows, gcbs::RunContext{}) != expected) __builtin_trap();
  } catch (const gcbs::Error&) {
    if (expected && !may_be_foreign(text)) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> bytes = gcbs::copy_of(data, size);
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  for (const char* path : {"fuzz.csv", "fuzz.tsv", "fuzz.jsonl"}) {
    // Counts that are often right: all records, all but a header, all but the blank ones at the end.
    const auto records = gcbs::test::split_slowly(text, gcbs::format_of(path).quoted);
    const std::size_t count = records ? records->size() : lines;
    for (const std::size_t rows : {count, count - std::min<std::size_t>(count, 1), count / 2, count + 1})
      check(bytes, text, path, rows);
  }
  return 0;
}
