#include "base/run.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "gcbs/error.h"

namespace gcbs {

void RunContext::check_stop() const {
  if (stop_requested()) throw Error(ErrorKind::interrupted, "interrupted");
}

namespace {

/// The state that the workers of one parallel_for share.
struct Shared {
  const RunContext& run;
  std::size_t count, grain;
  const std::function<void(std::size_t, std::size_t, unsigned)>& body;
  Report report;

  std::atomic<std::size_t> next{0}, done{0};
  std::atomic<bool> failed{false};
  std::exception_ptr failure{};
  std::mutex failure_mutex{}, report_mutex{};

  void work(unsigned worker) noexcept {
    try {
      while (!failed.load(std::memory_order_relaxed)) {
        run.check_stop();
        const std::size_t begin = next.fetch_add(grain, std::memory_order_relaxed);
        if (begin >= count) return;
        const std::size_t end = std::min(count, begin + grain);
        body(begin, end, worker);
        done.fetch_add(end - begin, std::memory_order_relaxed);
        if (report == Report::progress && run.observer != nullptr && report_mutex.try_lock()) {
          const std::lock_guard lock(report_mutex, std::adopt_lock);
          run.observer->advance(static_cast<double>(done.load(std::memory_order_relaxed)),
                                static_cast<double>(count));
        }
      }
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  }
};

}  // namespace

void parallel_for(const RunContext& run, std::size_t count, std::size_t grain,
                  const std::function<void(std::size_t, std::size_t, unsigned)>& body, Report report) {
  Shared shared{run, count, std::max<std::size_t>(grain, 1), body, report};
  const std::size_t pieces = (count + shared.grain - 1) / shared.grain;
  const auto workers = static_cast<unsigned>(std::clamp<std::size_t>(pieces, 1, std::max(run.threads, 1u)));
  {
    std::vector<std::jthread> crew;
    crew.reserve(workers);
    try {
      for (unsigned w = 1; w < workers; ++w) crew.emplace_back([&shared, w] { shared.work(w); });
    } catch (const std::system_error&) {
      // Fewer threads than asked for: the ones that started, and this one, do the work.
    }
    shared.work(0);
  }
  if (shared.failure) std::rethrow_exception(shared.failure);
}

}  // namespace gcbs
