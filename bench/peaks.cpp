// bench_peaks: what the instruction sets of this machine can do at best, in 10^9 operations a second.
//
// A register tile is multiplied over and over with operands in L1, on random non-zero data (zeros draw
// less power, keep the clock up and overstate AMX by a quarter). Each kernel's sums are compared with
// plain sums first. A window is 5 ms on every thread at once; the best window counts, since a peak is an
// upper bound and anything else on the machine only takes away. One multiply and add are two operations.
//
//     bench_peaks [--isa NAME] [--threads T] [--seconds S]      one JSON object on stdout
#include "peaks.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "gcbs/array.h"
#include "gcbs/cpu.h"

namespace gcbs::bench {
namespace {

using Clock = std::chrono::steady_clock;

PeakKernels peaks_of(Isa isa) {
#if defined(__x86_64__)
  switch (isa) {
    case Isa::amx_int8: return amx_int8_peaks();
    case Isa::avx512_vnni: return avx512_vnni_peaks();
    case Isa::avx2: return avx2_peaks();
    case Isa::scalar: break;
  }
#endif
  return {};
}

/// The operands of a kernel, plain and as the kernel reads them.
struct Operands {
  std::vector<float> x, y;  ///< [row or column][depth]; whole numbers for the int8 kernels
  Array<std::uint8_t> packed_x, packed_y;

  explicit Operands(const PeakKernel& kernel)
      : x(fill(kernel, kernel.rows, 0, 180)),
        y(fill(kernel, kernel.columns, -90, 90)),
        packed_x(pack(kernel, x, kernel.rows, kernel.x_group)),
        packed_y(pack(kernel, y, kernel.columns, kernel.y_group)) {}

 private:
  static std::vector<float> fill(const PeakKernel& kernel, int lines, int low, int high) {
    std::vector<float> values(static_cast<std::size_t>(lines) * kernel.depth);
    std::uint32_t state = 12345u + lines;
    for (float& value : values) {
      state = state * 1664525u + 1013904223u;
      value = static_cast<float>(low + static_cast<int>((state >> 8) % (high - low + 1)));
      if (value == 0) value = 1;
      if (kernel.sums == Sums::fp32) value /= 1024;
    }
    return values;
  }

  static Array<std::uint8_t> pack(const PeakKernel& kernel, const std::vector<float>& values, int lines,
                                  int group) {
    const bool whole = kernel.sums != Sums::fp32;
    Array<std::uint8_t> packed(values.size() * (whole ? 1 : sizeof(float)));
    std::size_t at = 0;
    for (int k = 0; k < kernel.depth; k += group)
      for (int line = 0; line < lines; ++line)
        for (int g = 0; g < group; ++g, ++at) {
          const float value = values[static_cast<std::size_t>(line) * kernel.depth + k + g];
          if (whole)
            packed[at] = static_cast<std::uint8_t>(static_cast<int>(value));
          else
            std::memcpy(&packed[at * sizeof value], &value, sizeof value);
        }
    return packed;
  }
};

constexpr std::size_t kMaxSumBytes = 32 * 32 * 4;

/// One pass of the kernel against plain sums.
bool is_right(const PeakKernel& kernel, const Operands& operands) {
  alignas(64) std::uint8_t sums[kMaxSumBytes];
  kernel.multiply(operands.packed_x.data(), operands.packed_y.data(), sums, 1);
  for (int r = 0; r < kernel.rows; ++r)
    for (int c = 0; c < kernel.columns; ++c) {
      double plain[2] = {0, 0};  // of depth 4k, 4k+1 and of 4k+2, 4k+3
      for (int k = 0; k < kernel.depth; ++k)
        plain[k / 2 % 2] += double{operands.x[static_cast<std::size_t>(r) * kernel.depth + k]} *
                            operands.y[static_cast<std::size_t>(c) * kernel.depth + k];
      const std::size_t at = static_cast<std::size_t>(r) * kernel.columns + c;
      if (kernel.sums == Sums::int16x2) {
        std::uint16_t found[2];
        std::memcpy(found, sums + at * sizeof found, sizeof found);
        for (int half = 0; half < 2; ++half)
          if (found[half] != static_cast<std::uint16_t>(static_cast<long>(plain[half]))) return false;
      } else if (kernel.sums == Sums::int32) {
        std::int32_t found;
        std::memcpy(&found, sums + at * sizeof found, sizeof found);
        if (found != static_cast<std::int32_t>(plain[0] + plain[1])) return false;
      } else {
        float found;
        std::memcpy(&found, sums + at * sizeof found, sizeof found);
        if (std::abs(found - (plain[0] + plain[1])) > 1e-3) return false;
      }
    }
  return true;
}

/// 10^9 operations a second of `threads` threads together, the best of windows that last `seconds`.
double measure(const PeakKernel& kernel, unsigned threads, double seconds) {
  constexpr double kWindowSeconds = 0.005;
  const int windows = std::max(3, static_cast<int>(seconds / kWindowSeconds));
  const double pass_ops = 2.0 * kernel.rows * kernel.columns * kernel.depth;
  std::atomic<long> passes_done{0};
  std::atomic<double> best{0};
  Clock::time_point start;
  std::barrier open(threads, [&]() noexcept {
    passes_done = 0;
    start = Clock::now();
  });
  std::barrier close(threads, [&]() noexcept {
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
    best = std::max(best.load(), static_cast<double>(passes_done) * pass_ops / elapsed * 1e-9);
  });
  const auto work = [&] {
    const Operands operands(kernel);
    alignas(64) std::uint8_t sums[kMaxSumBytes];
    const auto multiply = [&](long passes) {
      kernel.multiply(operands.packed_x.data(), operands.packed_y.data(), sums, passes);
    };
    for (int window = 0; window < windows; ++window) {
      open.arrive_and_wait();
      long passes = 0;
      do {
        multiply(200);
        passes += 200;
      } while (std::chrono::duration<double>(Clock::now() - start).count() < kWindowSeconds);
      passes_done += passes;
      close.arrive_and_wait();
    }
  };
  std::vector<std::jthread> others;
  for (unsigned t = 1; t < threads; ++t) others.emplace_back(work);
  work();
  others.clear();
  return best;
}

int run(int argc, char** argv) {
  std::string only;
  unsigned threads = usable_cores();
  double seconds = 0.5;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    if (flag == "--isa") only = argv[i + 1];
    if (flag == "--threads") threads = static_cast<unsigned>(std::atoi(argv[i + 1]));
    if (flag == "--seconds") seconds = std::atof(argv[i + 1]);
  }
  threads = std::max(threads, 1u);

  std::string available, peaks;
  for (const Isa isa : available_isas()) {
    available += (available.empty() ? "\"" : ", \"") + std::string(name_of(isa)) + "\"";
    if (!only.empty() && only != name_of(isa)) continue;
    for (const PeakKernel& kernel : peaks_of(isa)) {
      if (!is_right(kernel, Operands(kernel))) {
        std::fprintf(stderr, "bench_peaks: %s gives wrong sums\n", kernel.instructions);
        return 1;
      }
      const double one = measure(kernel, 1, seconds), all = measure(kernel, threads, seconds);
      char line[256];
      std::snprintf(line, sizeof line,
                    "%s{\"isa\": \"%s\", \"type\": \"%s\", \"instructions\": \"%s\", \"gops_1\": %.1f, "
                    "\"gops\": %.1f}",
                    peaks.empty() ? "" : ",\n  ", name_of(isa), kernel.sums == Sums::fp32 ? "fp32" : "int8",
                    kernel.instructions, one, all);
      peaks += line;
    }
  }
  std::printf("{\"compiler\": \"%s\", \"threads\": %u, \"available\": [%s],\n \"peaks\": [\n  %s]}\n",
#if defined(__clang__)
              "clang " __clang_version__,
#else
              "g++ " __VERSION__,
#endif
              threads, available.c_str(), peaks.c_str());
  return 0;
}

}  // namespace
}  // namespace gcbs::bench

int main(int argc, char** argv) { return gcbs::bench::run(argc, argv); }
