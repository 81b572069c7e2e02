// The one place where a shape read from a file is believed.
//
// Requires: nothing of the numbers, they come from a file that may lie.
// Ensures: two dimensions, neither zero, rows x cols x bytes a value without overflow.
#include "io/layout.h"

#include <limits>

#include "io/refuse.h"

namespace gcbs {

std::string text_of(std::span<const std::uint64_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

MatrixLayout layout_of(const std::string& file, ValueType type, std::span<const std::uint64_t> shape,
                       std::size_t offset) {
  if (shape.size() != 2)
    refuse(file, "it holds a " + std::to_string(shape.size()) + "-D array of shape " + text_of(shape),
           shape.size() < 2 ? "save a matrix of N rows and d columns, for example x.reshape(N, d)"
                            : "save one vector a row, for example x.reshape(len(x), -1)");
  if (shape[0] == 0 || shape[1] == 0)
    refuse(file, "its matrix of shape " + text_of(shape) + " has no values",
           "save at least one row and one column");
  std::uint64_t values = 0, bytes = 0;
  if (__builtin_mul_overflow(shape[0], shape[1], &values) ||
      __builtin_mul_overflow(values, std::uint64_t{bytes_of(type)}, &bytes) ||
      bytes > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()))
    refuse(file, "its shape " + text_of(shape) + " is larger than any memory",
           "the file is damaged: save it again");
  return {type, static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1]), offset};
}

}  // namespace gcbs
