// A matrix made ready for the scan: rows as int16, rows (or their heads) as int8 in a kernel's
// layout, and for each row how far the small numbers are from the true ones (docs/bounds.md).
//
// Both sides are centred first: x.y = x'.y' + offset_x + offset_y with x' = x - mean_x.
#pragma once

#include <cstdint>
#include <vector>

#include "base/run.h"
#include "gcbs/array.h"
#include "gcbs/graph.h"
#include "matrix/rows.h"
#include "similarity/kernels/kernel.h"

namespace gcbs {

/// The rows of a matrix that the places of an operand stand for: several where rows are equal, in any
/// order of places. Empty: place i is row i.
struct PlaceRows {
  Array<Vertex> rows;      ///< place by place, ascending within a place
  Array<Vertex> offsets;   ///< places + 1
  Array<Vertex> place_of;  ///< of each row

  bool empty() const noexcept { return rows.empty(); }
  Vertex first(std::size_t p) const noexcept { return empty() ? static_cast<Vertex>(p) : rows[offsets[p]]; }
  Vertex place(std::size_t row) const noexcept { return empty() ? static_cast<Vertex>(row) : place_of[row]; }
  std::uint64_t weight(std::size_t p) const noexcept { return empty() ? 1 : offsets[p + 1] - offsets[p]; }
};

/// Places of rows that are equal, given the first equal row of each row; in the order of first rows.
PlaceRows group_equal_rows(const std::vector<std::uint32_t>& first_equal, const RunContext& run);

/// Centred rows as int16: x' = scale * p + an error of known norm. The int8 rows are made from
/// these, so that the input is read once. Independent of the instruction set.
struct FineOperand {
  std::size_t count = 0;   ///< places
  std::size_t stride = 0;  ///< values a row, a multiple of 32, zero-padded
  Array<std::int16_t> values;
  std::vector<float> mean;  ///< any vector is correct; the mean of a sample makes errors small
  double scale = 1;         ///< a float32 number
  Array<float> error;       ///< >= |x' - scale p|
  Array<float> norm;        ///< >= |x'|
  Array<double> offset;     ///< x.mean_y - mean_x.mean_y for X, mean_x.y for Y
  PlaceRows places;
  const std::int16_t* row(std::size_t i) const noexcept { return values.data() + i * stride; }
};

struct FinePrepared {
  std::size_t depth = 0;  ///< values a row that count
  FineOperand x, y;
  /// No offset, float64 sum or fine value is further than this from the real number, all together.
  double rounding = 0;
};
/// What the int16 rows are for. decisions: most rows are precise; few may be clipped, since what a bound
/// leaves open is looked at again. sums: no row is clipped, and short rows are rounded at random, so that
/// errors of rows that are nearly equal differ and cancel.
enum class FineUse : std::uint8_t { decisions, sums };
FinePrepared prepare_fine(const Rows& x, const Rows& y, PlaceRows&& places_x, PlaceRows&& places_y,
                          const RunContext& run, FineUse use = FineUse::decisions);

/// Depth and segments of int8 rows, the same for both sides.
struct CoarseLayout {
  std::size_t depth = 0;  ///< values a row that count
  std::size_t steps = 0;  ///< 4-byte steps a row, padding included
  std::size_t widen = 0;  ///< steps a segment
};
CoarseLayout coarse_layout(const KernelShape& shape, std::size_t depth);

/// int8 rows z = scale * q + an error of known norm, packed for a kernel; z = x', or its head. A head
/// may come in two parts with one scale: the bounds of the second hold for both together.
struct CoarseOperand {
  std::size_t unit_rows = 0, unit_bytes = 0;  ///< a group of X or a panel of Y
  std::size_t units = 0;
  Array<std::uint8_t> values;
  double scale = 1;    ///< a float32 number
  Array<float> error;  ///< >= |z - scale q|
  Array<float> norm;   ///< >= |z|
  Array<float> tail;   ///< >= |x' outside the head so far|; empty without a head

  const std::uint8_t* unit(std::size_t u) const noexcept { return values.data() + u * unit_bytes; }
};

struct CoarsePart {
  CoarseLayout layout;
  CoarseOperand x, y;
};

struct CoarsePrepared {
  std::vector<CoarsePart> parts;  ///< one, or two of a head
  double defect = 0;              ///< of the head: adds defect * norm_x * norm_y to the bound
};

class Head;
/// `head` may be null: whole rows. Scales are chosen so that limits fit int32 (docs/bounds.md).
CoarsePrepared prepare_coarse(const FinePrepared& fine, const Head* head, const Kernel& kernel,
                              const RunContext& run);

}  // namespace gcbs
