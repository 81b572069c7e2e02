// Mates tile by tile against the question asked pair by pair.
#include "loss/mates.h"

#include <gtest/gtest.h>

#include "unit/loss/brute_force.h"

namespace gcbs {
namespace {

using namespace testing;

TEST(Mates, AreFoundInEveryTileOfEveryBand) {
  constexpr std::size_t kRows = 400, kTile = 64;
  const std::vector<std::vector<GroupIds>> cases = {
      {random_ids(kRows, 90, 1)},
      {random_ids(kRows, 1, 2)},  // everyone
      {random_ids(kRows, 300, 3), random_ids(kRows, 50, 4), random_ids(kRows, 5, 5)}};
  Mates mates;  // one for all: nothing of the band before may stay
  for (const std::vector<GroupIds>& lists : cases) {
    const Groups groups(lists, kRows);
    const std::vector<Vertex> order = shuffled(kRows, 6);
    for (const std::size_t size : {1u, 2u, 63u, 64u, 65u, 130u, 400u}) {
      const std::span<const Vertex> members = std::span(order).subspan(order.size() - size);
      const std::size_t a_band = (size + 2) / 3;
      for (std::size_t first = 0; first < size; first += a_band) {
        const BatchBand band{members, first, std::min(a_band, size - first)};
        mates.start(groups, band);
        for (std::size_t column = 0; column < size; column += kTile) {
          const std::size_t columns = std::min(kTile, size - column);
          for (std::size_t r = 0; r < band.count; ++r) {
            std::uint64_t expected = 0;
            for (std::size_t c = 0; c < columns; ++c)
              if (groups.are_mates(band.row(r), members[column + c])) expected |= std::uint64_t{1} << c;
            ASSERT_EQ(mates.in_tile(r, column, columns), expected)
                << size << ": row " << first + r << ", columns from " << column;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace gcbs
