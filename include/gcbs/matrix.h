// A matrix of embeddings, borrowed: the caller owns the memory and keeps it alive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace gcbs {

enum class ValueType : std::uint8_t { float32, float16, bfloat16, float64 };

const char* name_of(ValueType type) noexcept;
std::size_t bytes_of(ValueType type) noexcept;

/// Row-major values in native byte order; row i starts at data + i * row_bytes. Borrows.
struct MatrixView {
  const std::byte* data = nullptr;
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t row_bytes = 0;
  ValueType type = ValueType::float32;
  std::string name = "matrix";  ///< what errors call it: a file name, "x", ...

  const std::byte* row(std::size_t i) const noexcept { return data + i * row_bytes; }
};

/// A view of `rows` x `cols` float32 values in memory.
MatrixView view_of(std::span<const float> values, std::size_t rows, std::size_t cols,
                   std::string name = "matrix");

}  // namespace gcbs
