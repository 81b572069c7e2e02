#include "run.h"

#include <nanobind/stl/string.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "gcbs/error.h"

namespace gcbs::python {
namespace {

/// How far the work is: written by its thread, read by the caller's.
class Watched final : public Observer {
 public:
  void begin_stage(std::string_view name) override {
    const std::scoped_lock lock(mutex_);
    stage_ = name;
    done_ = total_ = 0;
  }
  void advance(double done, double total) override {
    const std::scoped_lock lock(mutex_);
    done_ = done;
    total_ = total;
  }
  bool stop_requested() noexcept override { return stop_.load(std::memory_order_relaxed); }

  void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  void tell(nb::handle tick) {
    std::string stage;
    double done = 0, total = 0;
    {
      const std::scoped_lock lock(mutex_);
      stage = stage_, done = done_, total = total_;
    }
    if (!stage.empty()) tick(stage, done, total);
  }

 private:
  std::mutex mutex_;
  std::string stage_;
  double done_ = 0, total_ = 0;
  std::atomic<bool> stop_{false};
};

/// The work's thread. Joined before the call returns, whatever happens.
class Worker {
 public:
  Worker(Watched& watched, const std::function<void(Observer&)>& work)
      : thread_([this, &watched, &work] {
          try {
            work(watched);
          } catch (...) {
            failure_ = std::current_exception();
          }
          const std::scoped_lock lock(mutex_);
          ended_ = true;
          changed_.notify_one();
        }) {}

  bool wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [this] { return ended_; });
  }
  void join() { thread_.join(); }
  const std::exception_ptr& failure() const noexcept { return failure_; }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::exception_ptr failure_;
  std::thread thread_;  // last: it uses the others
};

}  // namespace

void run_interruptibly(nb::handle tick, const std::function<void(Observer&)>& work) {
  constexpr std::chrono::milliseconds kLook{50}, kTell{100};
  Watched watched;
  std::optional<nb::python_error> raised;
  Worker worker(watched, work);
  auto told = std::chrono::steady_clock::now();
  for (bool ended = false; !ended;) {
    {
      const nb::gil_scoped_release release;
      ended = worker.wait(kLook);
    }
    if (ended || raised) continue;
    try {
      if (PyErr_CheckSignals() != 0) nb::raise_python_error();
      const auto now = std::chrono::steady_clock::now();
      if (!tick.is_none() && now - told >= kTell) {
        watched.tell(tick);
        told = now;
      }
    } catch (nb::python_error& error) {
      raised.emplace(std::move(error));
      watched.stop();
    }
  }
  worker.join();
  if (raised) throw std::move(*raised);
  if (worker.failure()) std::rethrow_exception(worker.failure());
}

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      const nb::object made =
          nb::module_::import_("gcbs._errors")
              .attr("error_of")(name_of(error.kind()), error.problem(), error.reason(), error.fix());
      PyErr_SetObject(made.type().ptr(), made.ptr());
    }
  });
}

}  // namespace gcbs::python
