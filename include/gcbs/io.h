// Files: .npy, .safetensors and text records in (memory-mapped), .npy and records out (all or nothing).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gcbs/matrix.h"
#include "gcbs/observer.h"

namespace gcbs {

/// A read-only memory map; unmapped when the last copy goes.
class MappedFile;

/// A matrix that lives in a mapped file and keeps the map alive.
struct FileMatrix {
  MatrixView view;
  std::shared_ptr<const MappedFile> file;
};

/// Opens `file.npy` or `file.safetensors:tensor` (the name may be left out where the file has one
/// 2-D tensor). Throws Error(input) that says what is wrong with the file.
FileMatrix open_matrix(const std::string& path);

/// Reads a vector of whole numbers (an order, group ids) from a .npy file. Throws Error(input).
std::vector<std::int64_t> read_integers(const std::string& path);

/// The records of a text file, which is mapped: record i is bytes starts[i] to starts[i + 1].
struct FileRecords {
  std::shared_ptr<const MappedFile> file;
  std::vector<std::uint64_t> starts;  ///< one more than there are records
};

/// Finds the records that belong to `rows` rows: lines, or the records of a .csv file, where newlines may
/// stand in double quotes. A .csv or .tsv file may have a header. Throws Error(input), for example where
/// the file has another number of records. Calls observer->advance in bytes.
FileRecords open_records(const std::string& path, std::size_t rows, Observer* observer = nullptr);

/// The path of the mapped file that `address` lies in, or null. A file that shrinks while it is mapped
/// raises SIGBUS at the address that is gone: a handler learns here which file it was. Async-signal-safe;
/// knows the first 64 files mapped at a time. The text lives as long as the map.
const char* mapped_file_at(const void* address) noexcept;
inline bool mapped_file_contains(const void* address) noexcept { return mapped_file_at(address) != nullptr; }

/// Throws Error(resource) where `path` could not be written now: no such folder, a folder or file that
/// is read-only, a name that is a folder or a device. Ask before long work. Leaves nothing behind.
void check_writable(const std::filesystem::path& path);

class UnfinishedFile;

/// Outputs that appear together: each waits, complete, in its temporary file until commit() renames all.
/// Without commit() none stays, and files that were there stay as they were.
class OutputFiles {
 public:
  OutputFiles();
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  /// Called by the writers below. Throws Error(resource).
  void add(std::unique_ptr<UnfinishedFile> file);
  /// Throws Error(resource).
  void commit();

 private:
  std::vector<std::unique_ptr<UnfinishedFile>> files_;
};

/// Writes a vector (an order, new position -> old row) or, with `columns`, a matrix as .npy: to a temporary
/// file in the same folder, synced, then renamed, at once or with `together`. Throws Error(resource); on
/// failure nothing is left behind and a file that was there stays as it was.
void write_npy(const std::filesystem::path& path, std::span<const std::int64_t> values,
               std::size_t columns = 0, OutputFiles* together = nullptr);
void write_npy(const std::filesystem::path& path, std::span<const float> values, std::size_t columns = 0,
               OutputFiles* together = nullptr);
void write_npy(const std::filesystem::path& path, std::span<const double> values, std::size_t columns = 0,
               OutputFiles* together = nullptr);

/// Writes the edges of a CSR graph as int32 pairs (row, column), E x 2, the same way. offsets has
/// rows + 1 entries and ends with columns.size(); at most 2^31 - 1 rows.
void write_npy_edges(const std::filesystem::path& path, std::span<const std::uint64_t> offsets,
                     std::span<const std::uint32_t> columns, OutputFiles* together = nullptr);

/// Writes the records in the order's sequence (new position -> old row), byte for byte, the same way. The
/// header stays first; a last record without a line end is given one.
void reorder_records(const FileRecords& records, std::span<const std::uint32_t> order,
                     const std::filesystem::path& path, OutputFiles* together = nullptr,
                     Observer* observer = nullptr);

/// Removes the temporary files of writes under way; async-signal-safe, for signal handlers.
void discard_unfinished_writes() noexcept;

}  // namespace gcbs
