// The group-mates of a band's rows, met column by column.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "loss/part.h"
#include "similarity/groups.h"

namespace gcbs {

/// Walks the columns of a batch once, from left to right. Cost: a sort of the batch, then one look a row
/// and tile.
class Mates {
 public:
  void start(const Groups& groups, const BatchBand& band) {
    lists_.resize(groups.lists());
    for (std::size_t l = 0; l < lists_.size(); ++l) {
      List& list = lists_[l];
      const auto group = [&](Vertex place) { return groups.group_of(l, band.members[place]); };
      list.places.resize(band.members.size());
      std::iota(list.places.begin(), list.places.end(), Vertex{0});
      std::stable_sort(list.places.begin(), list.places.end(),
                       [&](Vertex a, Vertex b) { return group(a) < group(b); });
      list.first_of.assign(band.members.size(), 0);
      for (std::size_t p = 1; p < list.places.size(); ++p) {
        const bool same = group(list.places[p]) == group(list.places[p - 1]);
        list.first_of[list.places[p]] = same ? list.first_of[list.places[p - 1]] : static_cast<Vertex>(p);
      }
      list.next.resize(band.count);
      list.group.resize(band.count);
      for (std::size_t r = 0; r < band.count; ++r) {
        list.next[r] = list.first_of[band.first + r];
        list.group[r] = list.first_of[band.first + r];
      }
    }
  }

  /// Sets the bit of every mate of row r among columns [column, column + columns).
  std::uint64_t in_tile(std::size_t r, std::size_t column, std::size_t columns) {
    std::uint64_t mask = 0;
    for (List& list : lists_) {
      Vertex& next = list.next[r];
      for (; next < list.places.size() && list.places[next] < column + columns &&
             list.first_of[list.places[next]] == list.group[r];
           ++next)
        mask |= std::uint64_t{1} << (list.places[next] - column);
    }
    return mask;
  }

 private:
  struct List {
    std::vector<Vertex> places;    ///< of the batch, by group
    std::vector<Vertex> first_of;  ///< of each place: where its group begins in `places`
    std::vector<Vertex> next;      ///< of each row of the band: the next mate, in `places`
    std::vector<Vertex> group;     ///< of each row of the band: where its group begins
  };
  std::vector<List> lists_;
};

}  // namespace gcbs
