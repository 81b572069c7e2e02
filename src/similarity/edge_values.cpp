// s(i,j) for every kept edge, from the int16 rows that the join has left.
//
// Ensures: |value - s| <= kEdgeValueError. Cost: an int16 product an edge, 2 d bytes of a row of Y that lie
// anywhere: memory is what it waits for, and half of what float32 rows would read.
//
// What is weighed by these values (batches, their objective) depends on them smoothly, so nothing has to be
// decided exactly. Rows that do not fit the common scale were clipped and say so by their error; pairs of
// such rows are computed by the definition. Errors belong to rows, not to places, so that values do not
// depend on how rows were put together.
#include "similarity/edge_values.h"

#include <vector>

#include "similarity/definition.h"

namespace gcbs {
namespace {

constexpr std::size_t kRowsAtOnce = 16;

/// A worker's buffers.
class Valuer {
 public:
  Valuer(const FinePrepared& fine, const Rows& x, const Rows& y, const Kernel& kernel)
      : fine_(fine), kernel_(kernel), definition_(x, y), scale_(fine.x.scale * fine.y.scale) {}

  void value(Vertex i, std::span<const Vertex> columns, float* values) {
    const FineOperand &x = fine_.x, &y = fine_.y;
    const Vertex row = x.places.place(i);
    places_.clear();
    for (const Vertex j : columns) places_.push_back({row, y.places.place(j)});
    products_.resize(places_.size());
    kernel_.fine(
        {x.values.data(), y.values.data(), x.stride, places_.data(), places_.size(), products_.data()});
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Vertex col = places_[c].col;
      double value = scale_ * static_cast<double>(products_[c]) + x.offset[row] + y.offset[col];
      if (error_of(row, col) > kEdgeValueError) {
        const FinePair pair{i, columns[c]};
        definition_.evaluate({&pair, 1}, {&value, 1});
      }
      values[c] = static_cast<float>(value);
    }
  }

 private:
  /// The errors of both rows, and what float64 rounds.
  double error_of(Vertex row, Vertex col) const noexcept {
    const auto error_x = static_cast<double>(fine_.x.error[row]),
               norm_x = static_cast<double>(fine_.x.norm[row]);
    const auto error_y = static_cast<double>(fine_.y.error[col]),
               norm_y = static_cast<double>(fine_.y.norm[col]);
    return error_x * norm_y + norm_x * error_y + error_x * error_y + fine_.rounding;
  }

  const FinePrepared& fine_;
  const Kernel& kernel_;
  Definition definition_;
  double scale_;
  std::vector<FinePair> places_;
  std::vector<std::int64_t> products_;
};

}  // namespace

Array<float> edge_values(const FinePrepared& fine, const Rows& x, const Rows& y, const Edges& edges,
                         const Kernel& kernel, const RunContext& run) {
  Array<float> values(edges.count(), run.meter);
  parallel_for(run, edges.rows(), kRowsAtOnce, [&](std::size_t begin, std::size_t end, unsigned) {
    Valuer valuer(fine, x, y, kernel);
    for (std::size_t i = begin; i < end; ++i)
      valuer.value(static_cast<Vertex>(i), edges.row(i), values.data() + edges.offsets[i]);
  });
  return values;
}

}  // namespace gcbs
