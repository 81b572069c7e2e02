// Rows are sorted by a hash of their bytes; rows with one hash are compared with the first of each kind
// among them, of which there is one unless hashes collide. Cost: one pass over the matrix and a sort of its
// rows' hashes.
#include "matrix/equal_rows.h"

#include <algorithm>
#include <cstring>

namespace gcbs {
namespace {

std::uint64_t hash_of(const std::byte* bytes, std::size_t size) noexcept {
  std::uint64_t hash = size;
  const auto mix = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  };
  std::size_t k = 0;
  for (; k + 8 <= size; k += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + k, sizeof word);
    mix(word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, bytes + k, size - k);
  mix(rest);
  return hash;
}

}  // namespace

std::vector<std::uint32_t> first_equal_rows(const MatrixView& matrix, const RunContext& run) {
  struct Hashed {
    std::uint64_t hash;
    std::uint32_t row;
  };
  const std::size_t bytes = matrix.cols * bytes_of(matrix.type);
  std::vector<Hashed> hashed(matrix.rows);
  parallel_for(run, matrix.rows, 256, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t i = begin; i < end; ++i)
      hashed[i] = {hash_of(matrix.row(i), bytes), static_cast<std::uint32_t>(i)};
  });
  std::sort(hashed.begin(), hashed.end(), [](const Hashed& a, const Hashed& b) {
    return a.hash != b.hash ? a.hash < b.hash : a.row < b.row;
  });
  std::vector<std::uint32_t> first(matrix.rows);
  std::vector<std::uint32_t> leaders;  // of the hash at hand
  for (std::size_t h = 0; h < hashed.size(); ++h) {
    if (h == 0 || hashed[h].hash != hashed[h - 1].hash) leaders.clear();
    const std::byte* row = matrix.row(hashed[h].row);
    const auto equal = [&](std::uint32_t leader) { return std::memcmp(row, matrix.row(leader), bytes) == 0; };
    const auto leader = std::find_if(leaders.begin(), leaders.end(), equal);
    first[hashed[h].row] = leader != leaders.end() ? *leader : hashed[h].row;
    if (leader == leaders.end()) leaders.push_back(hashed[h].row);
  }
  return first;
}

}  // namespace gcbs
