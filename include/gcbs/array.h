// A large block of plain values: move-only, uninitialised, 64-byte aligned, counted by a meter.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace gcbs {

class MemoryMeter;

namespace detail {
/// Throws Error(resource) when the memory cannot be had. `meter` may be null.
void* allocate(std::size_t bytes, MemoryMeter* meter);
void release(void* data, std::size_t bytes, MemoryMeter* meter) noexcept;
void leave_meter(std::size_t bytes, MemoryMeter* meter) noexcept;
}  // namespace detail

template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Array() = default;
  explicit Array(std::size_t size, MemoryMeter* meter = nullptr)
      : data_(static_cast<T*>(detail::allocate(size * sizeof(T), meter))), size_(size), meter_(meter) {}
  Array(std::size_t size, const T& value, MemoryMeter* meter = nullptr) : Array(size, meter) {
    for (T& entry : *this) entry = value;
  }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    Array(std::move(other)).swap(*this);
    return *this;
  }
  ~Array() { detail::release(data_, size_ * sizeof(T), meter_); }

  void swap(Array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(meter_, other.meter_);
  }

  /// No longer counted: for arrays that outlive the meter.
  void leave_meter() noexcept {
    detail::leave_meter(size_ * sizeof(T), meter_);
    meter_ = nullptr;
  }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  operator std::span<const T>() const noexcept { return {data_, size_}; }
  operator std::span<T>() noexcept { return {data_, size_}; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
  MemoryMeter* meter_ = nullptr;
};

}  // namespace gcbs
