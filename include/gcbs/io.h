// Files: .npy and .safetensors in (memory-mapped), .npy out (all or nothing).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "gcbs/matrix.h"

namespace gcbs {

/// A read-only memory map; unmapped when the last copy goes.
class MappedFile;

/// A matrix that lives in a mapped file and keeps the map alive.
struct FileMatrix {
  MatrixView view;
  std::shared_ptr<const MappedFile> file;
};

/// Opens `file.npy` or `file.safetensors:tensor` (the name may be left out where the file has one
/// tensor). Throws Error(input) that says what is wrong with the file.
FileMatrix open_matrix(const std::string& path);

/// Writes an int64 vector (an order, new position -> old row) as .npy: to a temporary file in the
/// same folder, synced, then renamed. On failure nothing is left behind.
void write_npy(const std::filesystem::path& path, std::span<const std::int64_t> values);

/// Makes int32 pairs, rows x 2, of a CSR graph (row, column), the same way.
void write_npy_edges(const std::filesystem::path& path, std::span<const std::uint64_t> offsets,
                     std::span<const std::uint32_t> columns);

/// Removes the temporary files of writes under way; async-signal-safe, for signal handlers.
void discard_unfinished_writes() noexcept;

}  // namespace gcbs
