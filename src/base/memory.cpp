#include "base/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "gcbs/array.h"
#include "gcbs/error.h"

namespace gcbs {

void MemoryMeter::add(std::size_t bytes) noexcept {
  const std::uint64_t held = held_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  std::uint64_t peak = peak_.load(std::memory_order_relaxed);
  while (held > peak && !peak_.compare_exchange_weak(peak, held, std::memory_order_relaxed)) {
  }
}

void MemoryMeter::remove(std::size_t bytes) noexcept {
  held_.fetch_sub(bytes, std::memory_order_relaxed);
}

namespace detail {
namespace {
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }
}  // namespace

void* allocate(std::size_t bytes, MemoryMeter* meter) {
  if (bytes == 0) return nullptr;
  // Large blocks take huge pages: the scan walks hundreds of megabytes in strides.
  const bool huge = bytes >= 4 * kHugePageBytes;
  const std::size_t unit = huge ? kHugePageBytes : kAlignment;
  void* data = bytes > std::numeric_limits<std::size_t>::max() - unit
                   ? nullptr
                   : std::aligned_alloc(unit, rounded(bytes, unit));
  if (data == nullptr)
    throw Error(ErrorKind::resource, "cannot allocate " + std::to_string(bytes) + " bytes",
                "the system refused", "free memory or lower --memory-limit, -m or the number of rows");
  if (huge) madvise(data, rounded(bytes, unit), MADV_HUGEPAGE);
  if (meter != nullptr) meter->add(bytes);
  return data;
}

void release(void* data, std::size_t bytes, MemoryMeter* meter) noexcept {
  if (data == nullptr) return;
  std::free(data);
  leave_meter(bytes, meter);
}

void leave_meter(std::size_t bytes, MemoryMeter* meter) noexcept {
  if (meter != nullptr) meter->remove(bytes);
}

}  // namespace detail

namespace {

/// The first number in a file, or none ("max", no such file).
std::uint64_t number_in(const char* path, std::uint64_t otherwise) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? value : otherwise;
}

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

std::uint64_t cgroup_left_bytes() {
  struct Pair {
    const char *limit, *used;
  };
  constexpr Pair kFiles[] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  std::uint64_t left = kNoLimit;
  for (const Pair& files : kFiles) {
    const std::uint64_t limit = number_in(files.limit, kNoLimit);
    if (limit == kNoLimit) continue;
    const std::uint64_t used = number_in(files.used, 0);
    left = std::min(left, limit > used ? limit - used : 0);
  }
  return left;
}

}  // namespace

std::uint64_t available_memory_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  std::string key, unit;
  std::uint64_t kib = 0, available = kNoLimit;
  while (meminfo >> key >> kib) {
    std::getline(meminfo, unit);
    if (key == "MemAvailable:") available = kib * 1024;
  }
  return std::min(available, cgroup_left_bytes());
}

}  // namespace gcbs
