// How many rows of a group sit in a batch: a hash table of what is there, O(rows) whatever the groups.
#pragma once

#include <cstdint>

#include "base/memory.h"
#include "gcbs/array.h"

namespace gcbs {

/// Counts by key; open addressing, linear probing. A count that falls to zero keeps its slot until the table
/// grows, so that probing never meets a hole.
class GroupCounts {
 public:
  explicit GroupCounts(MemoryMeter* meter) : meter_(meter), slots_(kLeast, Slot{}, meter) {}

  std::uint32_t of(std::uint64_t key) const noexcept { return slots_[place_of(key)].count; }

  void add(std::uint64_t key) {
    Slot& slot = slots_[place_of(key)];
    if (slot.key == kFree) {
      slot.key = key;
      ++used_;
    }
    ++slot.count;
    if (2 * used_ > slots_.size()) grow();
  }

  /// The key must have a count.
  void remove(std::uint64_t key) noexcept { --slots_[place_of(key)].count; }

 private:
  static constexpr std::size_t kLeast = 1024;
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = kFree;
    std::uint32_t count = 0;
  };

  std::size_t place_of(std::uint64_t key) const noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = (key * 0x9E3779B97F4A7C15u >> 20) & mask;
    while (slots_[place].key != key && slots_[place].key != kFree) place = (place + 1) & mask;
    return place;
  }

  /// Counts of zero are left behind; where they were many, the size stays.
  void grow() {
    std::size_t live = 0;
    for (const Slot& slot : slots_) live += slot.count > 0;
    Array<Slot> old(live * 4 > slots_.size() ? slots_.size() * 2 : slots_.size(), Slot{}, meter_);
    old.swap(slots_);
    used_ = 0;
    for (const Slot& slot : old) {
      if (slot.count == 0) continue;
      slots_[place_of(slot.key)] = slot;
      ++used_;
    }
  }

  MemoryMeter* meter_;
  Array<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace gcbs
