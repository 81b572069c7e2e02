#include "similarity/operand.h"

namespace gcbs {

PlaceRows group_equal_rows(const std::vector<std::uint32_t>& first_equal, const RunContext& run) {
  const std::size_t count = first_equal.size();
  PlaceRows out{Array<Vertex>(count, run.meter), {}, Array<Vertex>(count, run.meter)};
  Vertex places = 0;
  for (std::size_t i = 0; i < count; ++i)
    out.place_of[i] = first_equal[i] == i ? places++ : out.place_of[first_equal[i]];
  out.offsets = Array<Vertex>(places + 1, Vertex{0}, run.meter);
  for (std::size_t i = 0; i < count; ++i) ++out.offsets[out.place_of[i] + 1];
  for (std::size_t p = 0; p < places; ++p) out.offsets[p + 1] += out.offsets[p];
  std::vector<Vertex> next(out.offsets.begin(), out.offsets.end());
  for (std::size_t i = 0; i < count; ++i) out.rows[next[out.place_of[i]]++] = static_cast<Vertex>(i);
  return out;
}

}  // namespace gcbs
