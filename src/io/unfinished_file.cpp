// Temporary file, sync, rename: the one way this library writes.
//
// Ensures: after a failure, an exception or a signal (discard_unfinished_writes) the folder is as it
// was; after commit() the target is whole, also across a power cut. Several files (OutputFiles) are all
// finished before the first is placed: what can fail for want of space has happened by then. If a rename
// fails nevertheless, those placed before it are removed.
// The temporary lies in the target's folder, because rename() does not cross file systems. A target
// that is a symbolic link keeps the link: the file it points to is replaced. A target that is a device
// or a FIFO is refused, because rename() would take its place, and so is a file that is read-only.
// RLIMIT_FSIZE is looked at before the first byte: writing past it would send SIGXFSZ, which is the
// caller's to handle; where it is ignored or handled, the EFBIG that follows is reported.
//
// The table of unfinished files is fixed and atomic because a signal handler reads it. A slot goes
// free -> filling -> named -> free; `named` means that the path is complete. discard takes a slot from
// named to discarding while it unlinks, and release waits for it: a path never changes under a reader.
#include "io/unfinished_file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "gcbs/error.h"

namespace gcbs {
namespace {

namespace fs = std::filesystem;

enum SlotState : int { kFree, kFilling, kNamed, kDiscarding };

struct Slot {
  std::atomic<int> state{kFree};
  pid_t owner = 0;  // a forked child must not remove its parent's files
  std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<int>::is_always_lock_free);

constinit std::array<Slot, 64> unfinished;

/// The slot taken, or -1 when all are: then only the destructor removes the file.
int remember(const std::string& path) noexcept {
  if (path.size() >= PATH_MAX) return -1;
  for (std::size_t i = 0; i < unfinished.size(); ++i) {
    int free = kFree;
    if (!unfinished[i].state.compare_exchange_strong(free, kFilling)) continue;
    unfinished[i].owner = ::getpid();
    std::memcpy(unfinished[i].path.data(), path.c_str(), path.size() + 1);
    unfinished[i].state.store(kNamed, std::memory_order_release);
    return static_cast<int>(i);
  }
  return -1;
}

void forget(int slot) noexcept {
  if (slot < 0) return;
  std::atomic<int>& state = unfinished[static_cast<std::size_t>(slot)].state;
  int named = kNamed;
  while (!state.compare_exchange_weak(named, kFree)) {
    named = kNamed;
    std::this_thread::yield();
  }
}

std::atomic<unsigned> temporary_counter{0};

/// Short, so that any name that fits the folder has a temporary that fits too.
std::string temporary_name() {
  struct timespec now {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return ".gcbs-" + std::to_string(::getpid()) + "-" + std::to_string(temporary_counter.fetch_add(1)) + "-" +
         std::to_string(now.tv_nsec) + ".tmp";
}

[[noreturn]] void refuse_write(const fs::path& path, const std::string& reason, const std::string& fix) {
  throw Error(ErrorKind::resource, "cannot write " + path.string(), reason, fix);
}

/// The file that will be replaced: `path`, or what it links to. Refuses what must not be replaced.
fs::path target_of(const fs::path& path) {
  if (path.empty() || path.native().find('\0') != std::string::npos)
    refuse_write(path.empty() ? "''" : path, "this is not a path", "name a file");
  std::error_code error;
  fs::path target =
      fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : fs::absolute(path, error);
  if (error) refuse_write(path, error.message(), "check the path");
  const fs::file_status status = fs::status(target, error);
  if (status.type() == fs::file_type::none)
    refuse_write(path, error.message(), "check the path and its permissions");
  if (fs::is_directory(status) || !target.has_filename())
    refuse_write(path, "it names a directory", "name a file, for example " + (path / "order.npy").string());
  if (fs::exists(status) && !fs::is_regular_file(status))
    refuse_write(path, "it is a pipe, socket or device", "name a regular file");
  if (fs::exists(status) && ::faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0)
    refuse_write(path, "the file is there and is read-only", "remove it or choose another name");
  return target;
}

std::string free_bytes_text(const fs::path& folder) {
  struct statvfs disk {};
  if (::statvfs(folder.c_str(), &disk) != 0) return "";
  return " and " + std::to_string(std::uint64_t{disk.f_bavail} * disk.f_frsize) + " are free";
}

}  // namespace

UnfinishedFile::UnfinishedFile(const fs::path& path, std::uint64_t expected_bytes)
    : path_(path), target_(target_of(path)), expected_bytes_(expected_bytes) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < expected_bytes)
    fail(EFBIG);
  create();
}

void UnfinishedFile::create() {
  constexpr int kTries = 100;
  for (int tries = 0; fd_ < 0; ++tries) {
    temporary_ = target_.parent_path() / temporary_name();
    slot_ = remember(temporary_.native());  // first: a signal between the two finds nothing to remove
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ >= 0) return;
    const int error = errno;
    forget(slot_);
    slot_ = -1;
    if ((error != EEXIST && error != EINTR) || tries == kTries) fail(error);
  }
}

UnfinishedFile::~UnfinishedFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  forget(slot_);
}

void UnfinishedFile::write(std::span<const std::byte> bytes) {
  constexpr std::size_t kLargestWrite = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd_, bytes.data(), std::min(bytes.size(), kLargestWrite));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail(written < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void UnfinishedFile::finish() {
  while (::fsync(fd_) != 0 && errno != EINVAL)  // EINVAL: a file system that knows no sync
    if (errno != EINTR) fail(errno);
  const int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0 && errno != EINTR) fail(errno);
}

void UnfinishedFile::place() {
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail(errno);
  temporary_.clear();
  // The file is whole and in place; a folder that cannot be synced does not make it less so.
  const int folder = ::open(target_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

void UnfinishedFile::commit() {
  finish();
  place();
}

void UnfinishedFile::withdraw() noexcept { ::unlink(target_.c_str()); }

void UnfinishedFile::fail(int error) const {
  const fs::path folder = target_.parent_path();
  const std::string needed = std::to_string(expected_bytes_) + " bytes are needed";
  switch (error) {
    case ENOENT:
    case ENOTDIR: refuse_write(path_, "there is no folder " + folder.string(), "create it first: mkdir -p");
    case EACCES:
    case EPERM:
      refuse_write(path_, "this user may not write to the folder " + folder.string(),
                   "choose another folder");
    case EROFS: refuse_write(path_, "the file system is read-only", "choose another folder");
    case ENOSPC:
      refuse_write(path_, "the disk is full: " + needed + free_bytes_text(folder),
                   "free space or choose another folder");
    case EDQUOT:
      refuse_write(path_, "the disk quota is used up: " + needed, "free space or choose another folder");
    case EFBIG:
      refuse_write(path_, "the file would exceed the largest size allowed: " + needed,
                   "raise the limit: ulimit -f");
    default:
      refuse_write(path_, std::generic_category().message(error), "check the disk or choose another folder");
  }
}

void hand_over(std::unique_ptr<UnfinishedFile> file, OutputFiles* together) {
  if (together != nullptr)
    together->add(std::move(file));
  else
    file->commit();
}

OutputFiles::OutputFiles() = default;
OutputFiles::~OutputFiles() = default;

void OutputFiles::add(std::unique_ptr<UnfinishedFile> file) {
  file->finish();
  files_.push_back(std::move(file));
}

void OutputFiles::commit() {
  std::size_t placed = 0;
  try {
    for (; placed < files_.size(); ++placed) files_[placed]->place();
  } catch (...) {
    while (placed > 0) files_[--placed]->withdraw();
    throw;
  }
  files_.clear();
}

void check_writable(const fs::path& path) { const UnfinishedFile probe(path, 0); }

void discard_unfinished_writes() noexcept {
  const int saved_errno = errno;
  for (Slot& slot : unfinished) {
    int named = kNamed;
    if (!slot.state.compare_exchange_strong(named, kDiscarding)) continue;
    if (slot.owner == ::getpid()) ::unlink(slot.path.data());
    slot.state.store(kNamed);
  }
  errno = saved_errno;
}

}  // namespace gcbs
