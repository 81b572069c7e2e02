// An output file that appears whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "gcbs/io.h"

namespace gcbs {

/// Writes to a temporary file beside `path`; place() puts it there. Without it nothing stays. Known to
/// discard_unfinished_writes() meanwhile. All failures are Error(resource).
class UnfinishedFile {
 public:
  /// `expected_bytes`: how much will be written; a file size limit below it is refused at once.
  UnfinishedFile(const std::filesystem::path& path, std::uint64_t expected_bytes);
  ~UnfinishedFile();
  UnfinishedFile(const UnfinishedFile&) = delete;
  UnfinishedFile& operator=(const UnfinishedFile&) = delete;

  void write(std::span<const std::byte> bytes);

  /// Syncs and closes: what is left to do cannot run out of space. To be called once, after the last write.
  void finish();
  /// Renames what is finished, syncs the folder.
  void place();
  /// Both.
  void commit();
  /// Removes what was placed.
  void withdraw() noexcept;

 private:
  void create();
  [[noreturn]] void fail(int error) const;

  std::filesystem::path path_, target_, temporary_;
  std::uint64_t expected_bytes_;
  int fd_ = -1;
  int slot_ = -1;
};

/// Ends the writing of a file: put in place at once, or with the others where there are others.
void hand_over(std::unique_ptr<UnfinishedFile> file, OutputFiles* together);

}  // namespace gcbs
