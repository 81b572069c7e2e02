// Bytes -> records. A record is a line; in a .csv file it may hold newlines, between double quotes
// (RFC 4180), and is what Python's csv module takes for one.
//
// Requires: nothing of the bytes.
// Ensures: every record ends with a newline, the last one perhaps with the file. Blank lines at the end
// are no records where the count is right without them. A carriage return is a byte like any other.
// Cost: one pass of memchr, 8 bytes a record; a file with too many records is counted, not stored.
//
// Quotes count only where a field begins: at the start of the record, after a comma or after a semicolon.
// Elsewhere (5" disk) they are text. In quotes two of them stand for one. So the scan jumps from quote to
// quote of a line, and lines without quotes cost as little as in other files.
#include "io/records.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

#include "gcbs/error.h"
#include "io/refuse.h"

namespace gcbs {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool has_ending(std::string_view path, std::string_view ending) {
  return path.size() >= ending.size() &&
         std::equal(ending.rbegin(), ending.rend(), path.rbegin(), [](char wanted, char given) {
           return wanted == std::tolower(static_cast<unsigned char>(given));
         });
}

/// Text that is searched in stretches, so that a stop is seen in time.
class Scan {
 public:
  Scan(std::string_view text, const RunContext& run) : text_(text), run_(run) {}

  std::size_t size() const noexcept { return text_.size(); }
  char operator[](std::size_t at) const noexcept { return text_[at]; }
  std::string_view part(std::size_t begin, std::size_t end) const { return text_.substr(begin, end - begin); }

  /// The first `wanted` in [from, end), or `end`.
  std::size_t find(char wanted, std::size_t from, std::size_t end) {
    while (from < end) {
      if (from >= next_report_) report(from);
      const std::size_t length = std::min(kStretch, end - from);
      if (const void* hit = std::memchr(text_.data() + from, wanted, length))
        return static_cast<std::size_t>(static_cast<const char*>(hit) - text_.data());
      from += length;
    }
    return end;
  }

 private:
  static constexpr std::size_t kStretch = std::size_t{1} << 22;

  void report(std::size_t at) {
    next_report_ = at + kStretch;
    run_.check_stop();
    if (run_.observer != nullptr)
      run_.observer->advance(static_cast<double>(at), static_cast<double>(size()));
  }

  std::string_view text_;
  const RunContext& run_;
  std::size_t next_report_ = kStretch;
};

constexpr std::size_t kUnclosed = static_cast<std::size_t>(-1);

/// One past the quote that closes the field whose text begins at `from`, or kUnclosed.
std::size_t end_of_quotes(Scan& text, std::size_t from) {
  for (;;) {
    const std::size_t quote = text.find('"', from, text.size());
    if (quote == text.size()) return kUnclosed;
    if (quote + 1 == text.size() || text[quote + 1] != '"') return quote + 1;
    from = quote + 2;
  }
}

/// One past the record that begins at `begin`, its newline included, or kUnclosed.
std::size_t end_of_record(Scan& text, std::size_t begin, bool quoted) {
  std::size_t newline = text.find('\n', begin, text.size());
  for (std::size_t from = begin; quoted;) {
    const std::size_t quote = text.find('"', from, newline);
    if (quote == newline) break;
    const bool opens = quote == begin || text[quote - 1] == ',' || text[quote - 1] == ';';
    from = opens ? end_of_quotes(text, quote + 1) : quote + 1;
    if (from == kUnclosed) return kUnclosed;
    if (from > newline) newline = text.find('\n', from, text.size());
  }
  return std::min(newline + 1, text.size());
}

/// Where records begin, and where the last one ends, as far as they are wanted; and how many there are.
struct Census {
  std::vector<std::uint64_t> starts;
  std::uint64_t count = 0, blank = 0, blank_at_end = 0;
};

Census count_records(Scan& text, const std::string& path, bool quoted, std::size_t wanted_starts) {
  Census census;
  census.starts.reserve(std::min(wanted_starts, text.size() + 1));
  const bool has_mark = text.size() >= kByteOrderMark.size() && text.part(0, 3) == kByteOrderMark;
  for (std::size_t begin = has_mark ? kByteOrderMark.size() : 0;;) {
    if (census.starts.size() < wanted_starts) census.starts.push_back(begin);
    if (begin == text.size()) return census;
    const std::size_t end = end_of_record(text, begin, quoted);
    ++census.count;
    if (end == kUnclosed)
      refuse(path,
             "a double quote opens a field in record " + std::to_string(census.count) +
                 " (counted from 1), and none closes it",
             "repair the record; a copy named .txt is read line by line, whatever the quotes");
    const std::string_view record = text.part(begin, end);
    const bool is_blank = record == "\n" || record == "\r\n" || record == "\r";
    census.blank += is_blank;
    census.blank_at_end = is_blank ? census.blank_at_end + 1 : 0;
    begin = end;
  }
}

/// Bytes that are no text get the right advice.
void refuse_foreign(std::string_view text, const std::string& path) {
  using namespace std::string_view_literals;
  struct Packed {
    std::string_view magic;
    const char *name, *fix;
  };
  constexpr std::array kPacked{
      Packed{"\x1f\x8b"sv, "gzip", "decompress it first: gunzip -k FILE.gz"},
      Packed{"\x28\xb5\x2f\xfd"sv, "zstd", "decompress it first: unzstd FILE.zst"},
      Packed{"\xfd\x37zXZ\0"sv, "xz", "decompress it first: unxz -k FILE.xz"},
      Packed{"BZh"sv, "bzip2", "decompress it first: bunzip2 -k FILE.bz2"},
  };
  for (const Packed& packed : kPacked)
    if (text.starts_with(packed.magic))
      refuse(path, "it is compressed with " + std::string(packed.name), packed.fix);
  constexpr std::size_t kLookedAt = 8192;
  if (text.substr(0, kLookedAt).find('\0') != std::string_view::npos)
    refuse(path, "it holds zero bytes: a binary file, or UTF-16, but no lines of text",
           "export the records as UTF-8 text: .jsonl, .tsv or .csv");
}

/// [{...}, {...}] in one line or many is one value, and its pieces are none.
void refuse_json_array(std::string_view text, const Census& census, const std::string& path,
                       std::size_t rows) {
  if (!has_ending(path, ".json") && !has_ending(path, ".jsonl") && !has_ending(path, ".ndjson")) return;
  if (census.count == 0 || census.starts.size() < 2) return;
  constexpr std::string_view kSpace = " \t\r\n";
  const std::string_view line = text.substr(census.starts[0], census.starts[1] - census.starts[0]);
  const std::size_t first = line.find_first_not_of(kSpace), last = line.find_last_not_of(kSpace);
  if (first == std::string_view::npos || line[first] != '[') return;
  if (line[last] != ']' || (census.count == 1 && rows != 1))
    refuse(path, "it is one JSON array, not one JSON value a line",
           "turn it into lines: jq -c '.[]' FILE.json > FILE.jsonl");
}

[[noreturn]] void refuse_count(const Census& census, const std::string& path, RecordFormat format,
                               std::size_t rows) {
  const std::string what = format.quoted ? "records" : "lines";
  std::string reason = "row i of X belongs to record i of the file";
  if (format.header) reason += ", or to record i after a header";
  if (census.blank != 0) reason += "; " + std::to_string(census.blank) + " of the " + what + " are blank";
  throw Error(
      ErrorKind::input,
      path + " has " + std::to_string(census.count) + " " + what + " for " + std::to_string(rows) + " rows",
      reason, "give the file that the rows were made from, one record a row, in the same order");
}

}  // namespace

RecordFormat format_of(std::string_view path) {
  const bool csv = has_ending(path, ".csv");
  return {csv, csv || has_ending(path, ".tsv")};
}

std::vector<std::uint64_t> find_records(std::span<const std::byte> bytes, const std::string& path,
                                        std::size_t rows, const RunContext& run) {
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  refuse_foreign(all, path);
  const RecordFormat format = format_of(path);
  Scan text(all, run);
  Census census = count_records(text, path, format.quoted, rows + 2);
  refuse_json_array(all, census, path, rows);
  for (const std::uint64_t count : {census.count - census.blank_at_end, census.count}) {
    const bool has_header = format.header && count == rows + 1;
    if (count != rows && !has_header) continue;
    if (has_header) census.starts.erase(census.starts.begin());
    census.starts.resize(rows + 1);
    return std::move(census.starts);
  }
  refuse_count(census, path, format, rows);
}

}  // namespace gcbs
