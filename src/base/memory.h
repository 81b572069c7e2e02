// Memory: what a run holds, what the machine has left.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

namespace gcbs {

/// Counts the bytes a run holds and the most it ever held. Thread-safe; must outlive its arrays.
class MemoryMeter {
 public:
  void add(std::size_t bytes) noexcept;
  void remove(std::size_t bytes) noexcept;
  std::uint64_t held_bytes() const noexcept { return held_.load(std::memory_order_relaxed); }
  std::uint64_t peak_bytes() const noexcept { return peak_.load(std::memory_order_relaxed); }
  /// From here on the peak is counted anew. Returns the one before.
  std::uint64_t restart_peak() noexcept { return peak_.exchange(held_bytes(), std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> held_{0}, peak_{0};
};

/// std::vector's memory, counted: for lists that may grow large. The meter may be null.
template <class T>
struct MeteredAllocator {
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  MemoryMeter* meter = nullptr;

  MeteredAllocator() = default;
  MeteredAllocator(MemoryMeter* of) noexcept : meter(of) {}
  template <class U>
  MeteredAllocator(const MeteredAllocator<U>& other) noexcept : meter(other.meter) {}

  T* allocate(std::size_t count) {
    T* data = std::allocator<T>().allocate(count);
    if (meter != nullptr) meter->add(count * sizeof(T));
    return data;
  }
  void deallocate(T* data, std::size_t count) noexcept {
    std::allocator<T>().deallocate(data, count);
    if (meter != nullptr) meter->remove(count * sizeof(T));
  }
  bool operator==(const MeteredAllocator&) const noexcept = default;
};

template <class T>
using MeteredVector = std::vector<T, MeteredAllocator<T>>;

/// Bytes this process may still allocate: free and reclaimable memory, within the cgroup's limit.
std::uint64_t available_memory_bytes();

}  // namespace gcbs
