// Memory-mapped input files, and the table that tells a SIGBUS handler which of them shrank.
//
// Ensures: only regular files with at least one byte are mapped; anything else is an Error(input)
// before it is opened (a FIFO would block, a tape would wind).
// MAP_PRIVATE: never written, and file systems without shared maps serve it too.
// Read-ahead is asked for: the rows are first read front to back, then again and again.
//
// The table is a fixed array of atomics because a signal handler may neither lock nor allocate.
// A slot's `begin` is its flag: 0 free, 1 being filled, else the address; the other fields are written
// before it and read after it. A thread that faults in a map holds that map, so the slot it looks for
// cannot change under it; other slots may, and `begin` is read twice for them.
#include "io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "gcbs/error.h"
#include "io/refuse.h"

namespace gcbs {
namespace {

struct Slot {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<const char*> path{nullptr};
};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free &&
              std::atomic<const char*>::is_always_lock_free);

constexpr std::uintptr_t kFree = 0, kFilling = 1;
constinit std::array<Slot, 64> live_maps;

std::uintptr_t address_of(std::span<const std::byte> bytes) {
  return reinterpret_cast<std::uintptr_t>(bytes.data());
}

void remember(std::span<const std::byte> bytes, const char* path) noexcept {
  for (Slot& slot : live_maps) {
    std::uintptr_t free = kFree;
    if (!slot.begin.compare_exchange_strong(free, kFilling)) continue;
    slot.end.store(address_of(bytes) + bytes.size());
    slot.path.store(path);
    slot.begin.store(address_of(bytes));
    return;
  }
}

void forget(std::span<const std::byte> bytes) noexcept {
  for (Slot& slot : live_maps)
    if (slot.begin.load() == address_of(bytes)) slot.begin.store(kFree);
}

/// A descriptor that closes itself.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

[[noreturn]] void refuse_errno(const std::string& path, int error) {
  const std::string reason = std::generic_category().message(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR: refuse(path, "there is no such file", "check the path");
    case EACCES:
    case EPERM: refuse(path, "this user may not read it", "change its permissions, for example chmod u+r");
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      throw Error(ErrorKind::resource, "cannot read " + path, reason,
                  "close files or free memory, then try again");
    default: refuse(path, reason, "check the path and the disk");
  }
}

void require_regular(const std::string& path, const struct stat& status) {
  if (S_ISDIR(status.st_mode)) refuse(path, "it is a directory", "name a file in it");
  if (!S_ISREG(status.st_mode))
    refuse(path, "it is a pipe, socket or device, which cannot be mapped into memory",
           "write the data to a file first");
  if (status.st_size == 0) refuse(path, "the file is empty", "save it again");
}

}  // namespace

MappedFile::MappedFile(std::string path, std::span<const std::byte> bytes) noexcept
    : path_(std::move(path)), bytes_(bytes) {
  remember(bytes_, path_.c_str());
}

MappedFile::~MappedFile() {
  forget(bytes_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

std::shared_ptr<const MappedFile> MappedFile::open(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos)
    refuse("'" + printable(path) + "'", "this is not a path", "name a file");
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) refuse_errno(path, errno);
  require_regular(path, status);
  // Non-blocking: the path may have become a FIFO since.
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0) refuse_errno(path, errno);
  require_regular(path, status);
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED) refuse_errno(path, errno);
  ::madvise(data, size, MADV_WILLNEED);
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(data), size);
  return std::shared_ptr<const MappedFile>(new MappedFile(path, bytes));
}

const char* mapped_file_at(const void* address) noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (const Slot& slot : live_maps) {
    const std::uintptr_t begin = slot.begin.load();
    if (begin <= kFilling || wanted < begin || wanted >= slot.end.load()) continue;
    const char* path = slot.path.load();
    if (slot.begin.load() == begin) return path;
  }
  return nullptr;
}

}  // namespace gcbs
