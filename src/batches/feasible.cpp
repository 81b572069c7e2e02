// The groups of one list can be kept apart if and only if, for every t, the t largest groups have no more
// rows than the batches have places for them: the sum over batches of min(size, t). This is the theorem of
// Gale and Ryser on matrices of zeros and ones, groups being rows and batches columns. Several lists at once
// have no such rule: each is checked alone, the rest is a matter of search. Cost: a sort of the groups.
#include "batches/feasible.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gcbs/error.h"

namespace gcbs {
namespace {

struct GroupSize {
  Vertex first;  ///< its lowest row
  std::size_t rows;
};

std::vector<GroupSize> largest_first(const Groups& groups, std::size_t list, std::size_t rows) {
  std::vector<GroupSize> sizes;
  for (Vertex row = 0; row < rows; ++row) {
    const std::span<const Vertex> members = groups.members(list, row);
    if (members.front() == row) sizes.push_back({row, members.size()});
  }
  std::stable_sort(sizes.begin(), sizes.end(),
                   [](const GroupSize& a, const GroupSize& b) { return a.rows > b.rows; });
  return sizes;
}

}  // namespace

std::string name_of_group(const Groups& groups, std::span<const GroupIds> ids, std::size_t list, Vertex row) {
  const std::span<const Vertex> members = groups.members(list, row);
  for (std::size_t l = 0; l < ids.size(); ++l) {
    const auto same = [&](Vertex other) { return ids[l][other] == ids[l][row]; };
    if (!std::all_of(members.begin(), members.end(), same)) continue;
    return "group " + std::to_string(ids[l][row]) +
           (ids.size() > 1 ? " of list " + std::to_string(l + 1) : std::string());
  }
  return "the group of row " + std::to_string(row);
}

void check_feasible(const Groups& groups, std::span<const GroupIds> ids, std::size_t rows,
                    std::size_t batch_size) {
  const std::size_t whole = rows / batch_size, rest = rows % batch_size, batches = whole + (rest > 0);
  for (std::size_t list = 0; list < groups.lists(); ++list) {
    const std::vector<GroupSize> sizes = largest_first(groups, list, rows);
    std::size_t needed = 0;
    for (std::size_t t = 1; t <= sizes.size(); ++t) {
      needed += sizes[t - 1].rows;
      const std::size_t places = whole * std::min(batch_size, t) + std::min(rest, t);
      if (needed <= places) continue;
      const std::string name = name_of_group(groups, ids, list, sizes[t - 1].first) + ", which has " +
                               std::to_string(sizes[t - 1].rows) + " rows";
      const std::string reason =
          t == 1 ? name + ", finds one place in each of " + std::to_string(batches) + " batches"
                 : "the " + std::to_string(t) + " largest groups, down to " + name + ", have " +
                       std::to_string(needed) + " rows, and the batches " + std::to_string(places) +
                       " places for them";
      throw Error(ErrorKind::input, "groups cannot be kept apart in batches of " + std::to_string(batch_size),
                  reason, "use a smaller batch size, or leave rows of the largest groups out");
    }
  }
}

}  // namespace gcbs
