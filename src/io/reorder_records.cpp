// The records of a text file in another sequence, byte for byte.
//
// Ensures: what lies before the first record (byte order mark, header) stays first; records keep their
// line ends. A last record without one is given that of the others, or it would run into the record that
// now follows it. The output is complete or absent (unfinished_file.cpp).
// Cost: one pass over the order; the file is read in the order's sequence through a buffer of 4 MiB.
//
// Every byte is copied into the buffer by this program: a file that shrank then raises SIGBUS, which says
// which file it was. Handed to write() as it lies, it would fail as a bad address, blamed on the output.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/run.h"
#include "gcbs/error.h"
#include "gcbs/io.h"
#include "io/mapped_file.h"
#include "io/records.h"
#include "io/unfinished_file.h"

namespace gcbs {
namespace {

/// Gathers pieces and writes them in large ones.
class GatheringWriter {
 public:
  GatheringWriter(UnfinishedFile& file, std::uint64_t expected_bytes, const RunContext& run)
      : file_(file),
        run_(run),
        expected_bytes_(expected_bytes),
        buffer_(std::make_unique_for_overwrite<char[]>(kBufferBytes)) {}

  void add(std::string_view piece) {
    while (!piece.empty()) {
      if (held_ == kBufferBytes) flush();
      const std::size_t length = std::min(piece.size(), kBufferBytes - held_);
      std::memcpy(buffer_.get() + held_, piece.data(), length);
      held_ += length;
      piece.remove_prefix(length);
    }
  }

  void flush() {
    run_.check_stop();
    file_.write(std::as_bytes(std::span(buffer_.get(), held_)));
    written_bytes_ += held_;
    held_ = 0;
    if (run_.observer != nullptr)
      run_.observer->advance(static_cast<double>(written_bytes_), static_cast<double>(expected_bytes_));
  }

 private:
  static constexpr std::size_t kBufferBytes = std::size_t{1} << 22;

  UnfinishedFile& file_;
  const RunContext& run_;
  std::uint64_t expected_bytes_, written_bytes_ = 0;
  std::unique_ptr<char[]> buffer_;
  std::size_t held_ = 0;
};

/// What the last record of `text` lacks to be a line like the one that ends at `line_end`.
std::string_view missing_line_end(std::string_view text, std::size_t line_end) {
  if (text.ends_with('\n')) return {};
  const bool crlf = text.substr(0, line_end).ends_with("\r\n");
  return crlf && !text.ends_with('\r') ? "\r\n" : "\n";
}

}  // namespace

FileRecords open_records(const std::string& path, std::size_t rows, Observer* observer) {
  FileRecords records{MappedFile::open(path), {}};
  records.starts = find_records(records.file->bytes(), path, rows, RunContext{1, observer, nullptr});
  return records;
}

void reorder_records(const FileRecords& records, std::span<const std::uint32_t> order,
                     const std::filesystem::path& path, OutputFiles* together, Observer* observer) {
  const std::vector<std::uint64_t>& starts = records.starts;
  const std::size_t rows = starts.size() - 1;
  const auto unknown =
      std::find_if(order.begin(), order.end(), [&](std::uint32_t row) { return row >= rows; });
  if (unknown != order.end())
    throw Error(ErrorKind::usage, "the order names row " + std::to_string(*unknown),
                records.file->path() + " has " + std::to_string(rows) + " records, counted from 0",
                "open the records with as many rows as the order has");

  const std::string_view text(reinterpret_cast<const char*>(records.file->bytes().data()), starts.back());
  const bool has_header = text.substr(0, starts.front()).ends_with('\n');
  const std::string_view line_end = missing_line_end(text, starts[has_header || rows == 0 ? 0 : 1]);
  std::uint64_t expected_bytes = starts.front();
  for (const std::size_t row : order)
    expected_bytes += starts[row + 1] - starts[row] + (row + 1 == rows ? line_end.size() : 0);

  auto file = std::make_unique<UnfinishedFile>(path, expected_bytes);
  const RunContext run{1, observer, nullptr};
  GatheringWriter writer(*file, expected_bytes, run);
  writer.add(text.substr(0, starts.front()));
  for (const std::size_t row : order) {
    writer.add(text.substr(starts[row], starts[row + 1] - starts[row]));
    if (row + 1 == rows) writer.add(line_end);
  }
  writer.flush();
  hand_over(std::move(file), together);
}

}  // namespace gcbs
