// What both fuzz targets do with a layout that a parser believed: walk every row it promises.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/run.h"
#include "gcbs/error.h"
#include "io/layout.h"
#include "matrix/rows.h"

namespace gcbs {

/// The bytes as a block of their own: one read past the end is seen by the address sanitizer.
inline std::vector<std::byte> copy_of(const std::uint8_t* data, std::size_t size) {
  const auto* begin = reinterpret_cast<const std::byte*>(data);
  return {begin, begin + size};
}

/// Checks and reads every row, as a run would.
inline void believe(std::span<const std::byte> bytes, const MatrixLayout& layout) {
  MatrixView view;
  view.data = bytes.data() + layout.offset;
  view.rows = layout.rows;
  view.cols = layout.cols;
  view.row_bytes = layout.cols * bytes_of(layout.type);
  view.type = layout.type;
  for (const bool normalised : {false, true}) try {
      const Rows rows(view, normalised, RunContext{});
      std::vector<float> row(rows.dim());
      for (std::size_t i = 0; i < rows.count(); ++i) rows.read(i, row.data());
    } catch (const Error&) {
    }
}

}  // namespace gcbs
