// A file's bytes as read-only memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "gcbs/io.h"

namespace gcbs {

/// Maps a regular file for as long as it lives; known to mapped_file_at() meanwhile.
class MappedFile {
 public:
  /// Throws Error(input): missing, unreadable, empty, not a regular file. Never waits for a FIFO.
  static std::shared_ptr<const MappedFile> open(const std::string& path);

  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  const std::string& path() const noexcept { return path_; }

 private:
  MappedFile(std::string path, std::span<const std::byte> bytes) noexcept;

  std::string path_;
  std::span<const std::byte> bytes_;
};

}  // namespace gcbs
