#include "base/run.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "gcbs/array.h"
#include "gcbs/error.h"

namespace gcbs {
namespace {

TEST(ParallelFor, VisitsEveryIndexOnce) {
  for (const unsigned threads : {1u, 2u, 3u, 7u})
    for (const std::size_t count : {0u, 1u, 2u, 63u, 1000u}) {
      std::vector<std::atomic<int>> seen(count);
      RunContext run;
      run.threads = threads;
      parallel_for(run, count, 5, [&](std::size_t begin, std::size_t end, unsigned worker) {
        EXPECT_LT(worker, threads);
        for (std::size_t i = begin; i < end; ++i) ++seen[i];
      });
      for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(seen[i], 1) << i;
    }
}

TEST(ParallelFor, RethrowsTheFirstExceptionAfterAllThreadsEnded) {
  RunContext run;
  run.threads = 3;
  EXPECT_THROW(parallel_for(run, 100, 1,
                            [](std::size_t begin, std::size_t, unsigned) {
                              if (begin == 17) throw std::runtime_error("17");
                            }),
               std::runtime_error);
}

struct StopAfter : Observer {
  std::atomic<int> left;
  explicit StopAfter(int polls) : left(polls) {}
  bool stop_requested() noexcept override { return --left < 0; }
};

TEST(ParallelFor, StopsWhenTheObserverSaysSo) {
  StopAfter observer(10);
  RunContext run;
  run.threads = 2;
  run.observer = &observer;
  std::atomic<int> pieces{0};
  try {
    parallel_for(run, 1000, 1, [&](std::size_t, std::size_t, unsigned) { ++pieces; });
    FAIL() << "did not stop";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
  EXPECT_LE(pieces, 10);
}

TEST(MemoryMeter, RemembersThePeak) {
  MemoryMeter meter;
  {
    const Array<int> a(1000, &meter);
    const Array<double> b(10, &meter);
    EXPECT_EQ(meter.held_bytes(), 4080u);
  }
  EXPECT_EQ(meter.held_bytes(), 0u);
  EXPECT_EQ(meter.peak_bytes(), 4080u);
}

}  // namespace
}  // namespace gcbs
