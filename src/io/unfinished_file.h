// An output file that appears whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace gcbs {

/// Writes to a temporary file beside `path`; commit() puts it in place. Without commit() nothing
/// stays. Known to discard_unfinished_writes() meanwhile. All failures are Error(resource).
class UnfinishedFile {
 public:
  /// `expected_bytes`: how much will be written; a file size limit below it is refused at once.
  UnfinishedFile(const std::filesystem::path& path, std::uint64_t expected_bytes);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  void write(std::span<const std::byte> bytes);

  /// Syncs, renames, syncs the folder. To be called once, after the last write.
  void commit();

 private:
  void create();
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_, target_, temporary_;
  std::uint64_t expected_bytes_;
  int fd_ = -1;
  int slot_ = -1;
};

}  // namespace gcbs
