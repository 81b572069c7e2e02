// Where in a file the matrix lies: what both parsers hand back.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "gcbs/matrix.h"

namespace gcbs {

// Both formats are little-endian on disk and are used in place.
static_assert(std::endian::native == std::endian::little, "big-endian machines are not supported");

/// A row-major matrix without gaps, `offset` bytes into the file. Alignment is not promised.
struct MatrixLayout {
  ValueType type = ValueType::float32;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t offset = 0;

  std::size_t bytes() const noexcept { return rows * cols * bytes_of(type); }
};

/// A shape as a person writes it: (3, 4).
std::string text_of(std::span<const std::uint64_t> shape);

/// Checks that the shape is N x d with N, d >= 1 and that its bytes can be counted in 63 bits.
/// Throws Error(input) naming `file`. Whether the file is long enough is the caller's to check.
MatrixLayout layout_of(const std::string& file, ValueType type, std::span<const std::uint64_t> shape,
                       std::size_t offset);

}  // namespace gcbs
