// Seconds by stage. Stages never overlap; one that is entered again goes on counting.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace gcbs {

class StageClock {
 public:
  struct Entry {
    std::string name;
    double seconds = 0;
  };

  void begin(std::string_view name) {
    end();
    running_ = 0;
    while (running_ < entries_.size() && entries_[running_].name != name) ++running_;
    if (running_ == entries_.size()) entries_.push_back({std::string(name), 0});
    started_ = std::chrono::steady_clock::now();
  }

  void end() {
    if (running_ == kNone) return;
    entries_[running_].seconds +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
    running_ = kNone;
  }

  const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<Entry> entries_;
  std::size_t running_ = kNone;
  std::chrono::steady_clock::time_point started_{};
};

}  // namespace gcbs
