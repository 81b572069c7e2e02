#include "gcbs/matrix.h"

#include <utility>

#include "gcbs/error.h"

namespace gcbs {

const char* name_of(ValueType type) noexcept {
  switch (type) {
    case ValueType::float32: return "float32";
    case ValueType::float16: return "float16";
    case ValueType::bfloat16: return "bfloat16";
    case ValueType::float64: return "float64";
  }
  return "unknown";
}

std::size_t bytes_of(ValueType type) noexcept {
  switch (type) {
    case ValueType::float32: return 4;
    case ValueType::float16: return 2;
    case ValueType::bfloat16: return 2;
    case ValueType::float64: return 8;
  }
  return 0;
}

MatrixView view_of(std::span<const float> values, std::size_t rows, std::size_t cols, std::string name) {
  std::size_t needed = 0;
  if (__builtin_mul_overflow(rows, cols, &needed) || needed != values.size())
    throw Error(ErrorKind::usage, "cannot view " + name + " as a matrix",
                std::to_string(rows) + " x " + std::to_string(cols) + " values are asked for and " +
                    std::to_string(values.size()) + " are there",
                "pass rows and columns that multiply to the number of values");
  return {reinterpret_cast<const std::byte*>(values.data()),
          rows,
          cols,
          cols * sizeof(float),
          ValueType::float32,
          std::move(name)};
}

}  // namespace gcbs
