// The peer that everyone could write: OpenBLAS sgemm in blocks, each scanned while it is in cache.
//
// A block of rows x columns similarities is computed by one thread (OpenBLAS single-threaded, so that the
// scan is parallel too and no thread waits for another), then its values above the threshold become edges
// row << 32 | column. Blocks are handed out to whoever is free. A small C interface, called by
// peers.py; the block sizes and OPENBLAS_CORETYPE are tried there and the best is kept.
#include <cblas.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <thread>
#include <vector>

#include "gcbs/array.h"
#include "gcbs/cpu.h"
#include "scan.h"

namespace gcbs::bench {
namespace {

/// Edges of one thread; realloc moves big blocks by remapping, not copying.
struct EdgeList {
  std::uint64_t* data = nullptr;
  std::size_t size = 0, capacity = 0;

  EdgeList() = default;
  EdgeList(const EdgeList&) = delete;
  ~EdgeList() { std::free(data); }

  std::uint64_t* room_for(std::size_t more) {
    if (size + more > capacity) {
      capacity = std::max(2 * capacity, size + more);
      data = static_cast<std::uint64_t*>(std::realloc(data, capacity * sizeof *data));
      if (data == nullptr) std::abort();
    }
    return data + size;
  }
};

Scan best_scan() {
  for (const Isa isa : available_isas()) {
    if (isa == Isa::avx512_vnni) return scan_avx512;
    if (isa == Isa::avx2) return scan_avx2;
  }
  return nullptr;
}

}  // namespace

struct SgemmScan {
  std::vector<EdgeList> lists;
};

}  // namespace gcbs::bench

extern "C" {
#define GCBS_BENCH_API __attribute__((visibility("default")))

using gcbs::bench::SgemmScan;

GCBS_BENCH_API const char* sgemm_scan_config() { return openblas_get_config(); }
GCBS_BENCH_API const char* sgemm_scan_core() { return openblas_get_corename(); }

/// All (i, j) with x_i . y_j > threshold, as float32 sees it; null where no scan is compiled for here.
GCBS_BENCH_API SgemmScan* sgemm_scan_run(const float* x, const float* y, long n, long d, float threshold,
                                         int threads, long row_block, long column_block) {
  const gcbs::bench::Scan scan = gcbs::bench::best_scan();
  if (scan == nullptr) return nullptr;
  openblas_set_num_threads(1);
  auto* result = new SgemmScan{std::vector<gcbs::bench::EdgeList>(static_cast<std::size_t>(threads))};
  const long row_blocks = (n + row_block - 1) / row_block,
             column_blocks = (n + column_block - 1) / column_block;
  std::atomic<long> next{0};
  const auto work = [&](int worker) {
    gcbs::bench::EdgeList& list = result->lists[static_cast<std::size_t>(worker)];
    gcbs::Array<float> block(static_cast<std::size_t>(row_block * column_block));
    for (long task = next++; task < row_blocks * column_blocks; task = next++) {
      const long row = task / column_blocks * row_block, column = task % column_blocks * column_block;
      const long rows = std::min(row_block, n - row), columns = std::min(column_block, n - column);
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(rows), static_cast<int>(columns),
                  static_cast<int>(d), 1.0f, x + row * d, static_cast<int>(d), y + column * d,
                  static_cast<int>(d), 0.0f, block.data(), static_cast<int>(column_block));
      for (long r = 0; r < rows; ++r) {
        std::uint64_t* begin = list.room_for(static_cast<std::size_t>(columns));
        list.size +=
            scan(block.data() + r * column_block, static_cast<std::size_t>(columns), threshold,
                 static_cast<std::uint64_t>(row + r) << 32, static_cast<std::uint32_t>(column), begin) -
            begin;
      }
    }
  };
  std::vector<std::jthread> others;
  for (int t = 1; t < threads; ++t) others.emplace_back(work, t);
  work(0);
  others.clear();
  return result;
}

GCBS_BENCH_API long sgemm_scan_edges(const SgemmScan* result, int worker, const std::uint64_t** edges) {
  const auto& list = result->lists[static_cast<std::size_t>(worker)];
  *edges = list.data;
  return static_cast<long>(list.size);
}

GCBS_BENCH_API void sgemm_scan_free(SgemmScan* result) { delete result; }
}
