// k-means on a sample of the rows, all rows to their nearest centre, and again inside each cluster until
// it is as small as a tile. Cost: kBranches products of kWidth values a row and level.
#include "similarity/cluster.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"

namespace gcbs {
namespace {

constexpr std::size_t kWidth = 64;       // directions that count
constexpr std::size_t kLeaf = 64;        // rows of both sides that need not be told apart
constexpr std::size_t kBranches = 32;    // clusters a level
constexpr std::size_t kSampleRows = 24;  // a cluster, to find centres
constexpr int kRounds = 4;

class Splitter {
 public:
  Splitter(const Array<float>& z, std::size_t width, const RunContext& run)
      : z_(z), width_(width), run_(run), items_(z.size() / width), clusters_(items_.size()) {
    std::iota(items_.begin(), items_.end(), Vertex{0});
  }

  /// All rows, in cluster order.
  std::vector<Vertex> run() {
    const std::vector<std::size_t> ends = split(0, items_.size(), run_);
    parallel_for(run_, ends.size(), 1,
                 [&](std::size_t c, std::size_t, unsigned) { split_all(c == 0 ? 0 : ends[c - 1], ends[c]); });
    return std::move(items_);
  }

 private:
  const float* row(std::size_t item) const { return z_.data() + item * width_; }

  void split_all(std::size_t begin, std::size_t end) {
    run_.check_stop();
    const std::vector<std::size_t> ends = split(begin, end, RunContext{});
    if (ends.size() < 2) return;
    for (std::size_t c = 0; c < ends.size(); ++c) split_all(c == 0 ? begin : ends[c - 1], ends[c]);
  }

  /// Groups items [begin, end) by cluster; the ends of the clusters. One end: they stay as they are.
  std::vector<std::size_t> split(std::size_t begin, std::size_t end, const RunContext& run) {
    const std::size_t count = end - begin;
    if (count <= kLeaf) return {end};
    const std::size_t clusters = std::clamp<std::size_t>(2 * count / kLeaf, 2, kBranches);
    const std::vector<float> centres = find_centres(begin, end, clusters);
    parallel_for(run, count, 4096, [&](std::size_t first, std::size_t last, unsigned) {
      for (std::size_t i = begin + first; i < begin + last; ++i)
        clusters_[i] = nearest(row(items_[i]), centres, clusters);
    });
    std::vector<std::size_t> ends(clusters, 0);
    for (std::size_t i = begin; i < end; ++i) ++ends[clusters_[i]];
    if (*std::max_element(ends.begin(), ends.end()) == count) return {end};
    std::vector<std::size_t> next(clusters);
    std::exclusive_scan(ends.begin(), ends.end(), next.begin(), begin);
    std::vector<Vertex> moved(count);
    for (std::size_t i = begin; i < end; ++i) moved[next[clusters_[i]]++ - begin] = items_[i];
    std::copy(moved.begin(), moved.end(), items_.begin() + static_cast<std::ptrdiff_t>(begin));
    return next;
  }

  /// Centres as width values and minus half their squared norm.
  std::vector<float> find_centres(std::size_t begin, std::size_t end, std::size_t clusters) const {
    const std::size_t count = end - begin, sampled = std::min(count, kSampleRows * clusters);
    const auto sample = [&](std::size_t s) { return row(items_[begin + s * count / sampled]); };
    std::vector<float> centres(clusters * (width_ + 1));
    Random random(begin + 1);
    for (std::size_t c = 0; c < clusters; ++c)
      set_centre(centres, c, sample(c * sampled / clusters + random.below(sampled / clusters)), 1);
    for (int round = 0; round < kRounds; ++round) {
      std::vector<float> sums(clusters * width_, 0.0f);
      std::vector<std::size_t> sizes(clusters, 0);
      for (std::size_t s = 0; s < sampled; ++s) {
        const std::size_t c = nearest(sample(s), centres, clusters);
        ++sizes[c];
        for (std::size_t k = 0; k < width_; ++k) sums[c * width_ + k] += sample(s)[k];
      }
      for (std::size_t c = 0; c < clusters; ++c)
        if (sizes[c] > 0) set_centre(centres, c, sums.data() + c * width_, 1 / static_cast<float>(sizes[c]));
    }
    return centres;
  }

  void set_centre(std::vector<float>& centres, std::size_t c, const float* values, float factor) const {
    float* centre = centres.data() + c * width_;
    for (std::size_t k = 0; k < width_; ++k) centre[k] = factor * values[k];
    centres[centres.size() / (width_ + 1) * width_ + c] = -0.5f * inner_product(centre, centre, width_);
  }

  std::uint32_t nearest(const float* z, const std::vector<float>& centres, std::size_t clusters) const {
    const float* shift = centres.data() + clusters * width_;
    std::uint32_t best = 0;
    float most = -INFINITY;
    for (std::uint32_t c = 0; c < clusters; ++c) {
      const float closeness = inner_product(z, centres.data() + c * width_, width_) + shift[c];
      if (closeness > most) most = closeness, best = c;
    }
    return best;
  }

  const Array<float>& z_;
  std::size_t width_;
  const RunContext& run_;
  std::vector<Vertex> items_;
  std::vector<std::uint32_t> clusters_;
};

void project_side(const FineOperand& side, const Head& head, std::size_t width, const Kernel& kernel,
                  const RunContext& run, float* out) {
  parallel_for(run, side.count, 64, [&](std::size_t begin, std::size_t end, unsigned) {
    Head::Buffers buffers;
    std::vector<Vertex> rows(end - begin);
    std::iota(rows.begin(), rows.end(), static_cast<Vertex>(begin));
    head.project(side, rows, width, kernel, buffers, out + begin * width);
  });
}

template <class T>
void reorder(Array<T>& values, const Array<Vertex>& order, MemoryMeter* meter) {
  Array<T> moved(values.size(), meter);
  for (std::size_t p = 0; p < order.size(); ++p) moved[p] = values[order[p]];
  values = std::move(moved);
}

PlaceRows reordered(const PlaceRows& places, const Array<Vertex>& order, MemoryMeter* meter) {
  const std::size_t rows = places.empty() ? order.size() : places.rows.size();
  PlaceRows out{Array<Vertex>(rows, meter), Array<Vertex>(order.size() + 1, meter),
                Array<Vertex>(rows, meter)};
  Vertex next = 0;
  for (std::size_t p = 0; p < order.size(); ++p) {
    out.offsets[p] = next;
    for (std::size_t k = 0; k < places.weight(order[p]); ++k) {
      const Vertex row = places.empty() ? order[p] : places.rows[places.offsets[order[p]] + k];
      out.rows[next++] = row;
      out.place_of[row] = static_cast<Vertex>(p);
    }
  }
  out.offsets[order.size()] = next;
  return out;
}

void reorder(FineOperand& side, const Array<Vertex>& order, MemoryMeter* meter) {
  reorder(side.error, order, meter);
  reorder(side.norm, order, meter);
  reorder(side.offset, order, meter);
  // The large array cycle by cycle, one row aside.
  std::vector<bool> done(side.count, false);
  std::vector<std::int16_t> aside(side.stride);
  const auto at = [&side](std::size_t p) { return side.values.data() + p * side.stride; };
  for (std::size_t start = 0; start < side.count; ++start) {
    if (done[start] || order[start] == start) continue;
    std::copy_n(at(start), side.stride, aside.data());
    std::size_t place = start;
    for (; order[place] != start; place = order[place]) {
      std::copy_n(at(order[place]), side.stride, at(place));
      done[place] = true;
    }
    std::copy_n(aside.data(), side.stride, at(place));
    done[place] = true;
  }
  side.places = reordered(side.places, order, meter);
}

}  // namespace

PlaceOrder cluster_order(const FinePrepared& fine, const Head& head, const Kernel& kernel,
                         const RunContext& run) {
  const std::size_t width = std::min(kWidth, head.depth());
  Array<float> z((fine.x.count + fine.y.count) * width, run.meter);
  project_side(fine.x, head, width, kernel, run, z.data());
  project_side(fine.y, head, width, kernel, run, z.data() + fine.x.count * width);
  const std::vector<Vertex> items = Splitter(z, width, run).run();
  PlaceOrder order{Array<Vertex>(fine.x.count, run.meter), Array<Vertex>(fine.y.count, run.meter)};
  Vertex *x = order.x.data(), *y = order.y.data();
  for (const Vertex item : items) {
    if (item < fine.x.count)
      *x++ = item;
    else
      *y++ = item - static_cast<Vertex>(fine.x.count);
  }
  return order;
}

void reorder(FinePrepared& fine, const PlaceOrder& order, const RunContext& run) {
  parallel_for(run, 2, 1, [&](std::size_t side, std::size_t, unsigned) {
    if (side == 0)
      reorder(fine.x, order.x, run.meter);
    else
      reorder(fine.y, order.y, run.meter);
  });
}

}  // namespace gcbs
