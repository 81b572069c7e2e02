#include "similarity/groups.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "gcbs/error.h"

namespace gcbs {

Groups::Groups(std::span<const GroupIds> lists, std::size_t rows) {
  for (const GroupIds& ids : lists) {
    if (ids.size() != rows)
      throw Error(ErrorKind::input,
                  std::to_string(ids.size()) + " group ids for " + std::to_string(rows) + " rows",
                  "every row belongs to one group", "give one id a row, in the order of the rows");
    List list{std::vector<Vertex>(rows), {0}, std::vector<Vertex>(rows)};
    std::iota(list.members.begin(), list.members.end(), Vertex{0});
    std::stable_sort(list.members.begin(), list.members.end(),
                     [&](Vertex a, Vertex b) { return ids[a] < ids[b]; });
    for (std::size_t p = 0; p < rows; ++p) {
      if (p > 0 && ids[list.members[p]] != ids[list.members[p - 1]])
        list.offsets.push_back(static_cast<Vertex>(p));
      list.group_of[list.members[p]] = static_cast<Vertex>(list.offsets.size() - 1);
    }
    list.offsets.push_back(static_cast<Vertex>(rows));
    if (list.offsets.size() - 1 < rows) lists_.push_back(std::move(list));
  }
}

bool Groups::are_mates(std::size_t i, std::size_t j) const noexcept {
  return std::any_of(lists_.begin(), lists_.end(),
                     [&](const List& list) { return list.group_of[i] == list.group_of[j]; });
}

std::span<const Vertex> Groups::members(std::size_t list, std::size_t row) const noexcept {
  const List& l = lists_[list];
  const Vertex group = l.group_of[row];
  return {l.members.data() + l.offsets[group],
          static_cast<std::size_t>(l.offsets[group + 1] - l.offsets[group])};
}

}  // namespace gcbs
