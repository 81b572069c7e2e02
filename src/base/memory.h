// Memory: what a run holds, what the machine has left.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gcbs {

/// Counts the bytes a run holds and the most it ever held. Thread-safe; must outlive its arrays.
class MemoryMeter {
 public:
  void add(std::size_t bytes) noexcept;
  void remove(std::size_t bytes) noexcept;
  std::uint64_t held_bytes() const noexcept { return held_.load(std::memory_order_relaxed); }
  std::uint64_t peak_bytes() const noexcept { return peak_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> held_{0}, peak_{0};
};

/// Bytes this process may still allocate: free and reclaimable memory, within the cgroup's limit.
std::uint64_t available_memory_bytes();

}  // namespace gcbs
