// Counts of groups are looked up, counts of edges inside a batch are kept: a swap updates the rows that the
// two have entries to. Cost of a swap: their degrees; of a look: a few accesses a list.
#include "batches/seating.h"

namespace gcbs {

Seating::Seating(std::vector<Vertex> order, std::size_t batch_size, const Groups& groups, const Graph* graph,
                 const RunContext& run)
    : order_(std::move(order)), size_(batch_size), groups_(groups), graph_(graph), place_(order_.size()) {
  for (std::size_t p = 0; p < order_.size(); ++p) place_[order_[p]] = static_cast<Vertex>(p);
  for (std::size_t list = 0; list < groups.lists(); ++list) {
    counts_.emplace_back(run.meter);
    for (Vertex row = 0; row < order_.size(); ++row)
      if (is_counted(list, row)) counts_[list].add(key(list, row, batch_of(row)));
  }
  if (graph == nullptr) return;
  inside_.resize(order_.size());
  parallel_for(run, order_.size(), 4096, [&](std::size_t begin, std::size_t end, unsigned) {
    for (std::size_t row = begin; row < end; ++row)
      inside_[row] =
          static_cast<std::int32_t>(edges_into(static_cast<Vertex>(row), batch_of(static_cast<Vertex>(row))));
  });
}

bool Seating::fits(Vertex row, std::size_t batch) const noexcept {
  const std::uint32_t itself = batch_of(row) == batch;
  for (std::size_t list = 0; list < counts_.size(); ++list)
    if (is_counted(list, row) && counts_[list].of(key(list, row, batch)) > itself) return false;
  return true;
}

int Seating::swap_excess(Vertex a, Vertex b) const noexcept {
  const std::size_t of_a = batch_of(a), of_b = batch_of(b);
  int change = 0;
  for (std::size_t list = 0; list < counts_.size(); ++list) {
    if (groups_.group_of(list, a) == groups_.group_of(list, b)) continue;
    const GroupCounts& counts = counts_[list];
    if (is_counted(list, a))
      change += (counts.of(key(list, a, of_b)) > 0) - (counts.of(key(list, a, of_a)) > 1);
    if (is_counted(list, b))
      change += (counts.of(key(list, b, of_a)) > 0) - (counts.of(key(list, b, of_b)) > 1);
  }
  return change;
}

void Seating::move(Vertex row, std::size_t place) {
  const std::size_t from = batch_of(row), to = place / size_;
  for (std::size_t list = 0; list < counts_.size(); ++list) {
    if (!is_counted(list, row)) continue;
    counts_[list].remove(key(list, row, from));
    counts_[list].add(key(list, row, to));
  }
  order_[place] = row;
  place_[row] = static_cast<Vertex>(place);
  if (graph_ == nullptr) return;
  std::int32_t inside = 0;
  for_each_entry(row, [&](Vertex other) {
    if (other == row) return;
    const std::size_t batch = batch_of(other);
    if (batch == from) --inside_[other];
    if (batch == to) ++inside_[other], ++inside;
  });
  inside_[row] = inside;
}

void Seating::swap(Vertex a, Vertex b) {
  const std::size_t of_a = place_[a], of_b = place_[b];
  move(a, of_b);
  move(b, of_a);
}

std::int64_t Seating::edges_into(Vertex row, std::size_t batch) const noexcept {
  if (graph_ == nullptr) return 0;
  std::int64_t count = 0;
  for_each_entry(row, [&](Vertex other) { count += other != row && batch_of(other) == batch; });
  return count;
}

std::int64_t Seating::swap_loss(Vertex a, Vertex b) const noexcept {
  if (graph_ == nullptr) return 0;
  // Entries between the two join different batches before and after: they would be counted as won.
  std::int64_t between = 0;
  for_each_entry(a, [&](Vertex other) { between += other == b; });
  return edges_inside(a) + edges_inside(b) - edges_into(a, batch_of(b)) - edges_into(b, batch_of(a)) +
         2 * between;
}

std::vector<std::size_t> Seating::batches_of_neighbours(Vertex row, std::size_t most) const {
  if (graph_ == nullptr) return {};
  const std::size_t own = batch_of(row);
  std::vector<std::size_t> met;
  for_each_entry(row, [&](Vertex other) {
    if (batch_of(other) != own) met.push_back(batch_of(other));
  });
  std::sort(met.begin(), met.end());
  struct Met {
    std::size_t entries, distance, batch;
  };
  std::vector<Met> ranked;
  for (std::size_t i = 0, next; i < met.size(); i = next) {
    for (next = i; next < met.size() && met[next] == met[i];) ++next;
    ranked.push_back({next - i, met[i] > own ? met[i] - own : own - met[i], met[i]});
  }
  const std::size_t count = std::min(most, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(count), ranked.end(),
                    [](const Met& a, const Met& b) {
                      if (a.entries != b.entries) return a.entries > b.entries;
                      return a.distance != b.distance ? a.distance < b.distance : a.batch < b.batch;
                    });
  std::vector<std::size_t> batches;
  for (std::size_t i = 0; i < count; ++i) batches.push_back(ranked[i].batch);
  return batches;
}

}  // namespace gcbs
