// The whole library from the outside: two matrices in memory, one call, the batches.
#include <gcbs/gcbs.h>

#include <cstdio>
#include <exception>
#include <random>
#include <vector>

int main() try {
  constexpr std::size_t kRows = 64, kCols = 16, kBatch = 8;
  std::mt19937 random(1);
  std::normal_distribution<float> noise;
  std::vector<float> x(kRows * kCols), y(kRows * kCols);
  for (float& value : x) value = noise(random);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + 0.5f * noise(random);

  gcbs::PipelineOptions options;
  options.batch_size = kBatch;
  const gcbs::OrderResult result =
      gcbs::order_pairs(gcbs::view_of(x, kRows, kCols, "x"), gcbs::view_of(y, kRows, kCols, "y"), options);

  std::printf("gcbs %s, %s, %llu edges\n", GCBS_VERSION, gcbs::name_of(result.isa),
              static_cast<unsigned long long>(result.edge_count));
  for (std::size_t position = 0; position < kRows; ++position)
    std::printf("%3u%s", result.order.old_of_new[position], position % kBatch == kBatch - 1 ? "\n" : " ");
  return result.order.old_of_new.size() == kRows ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
