// .npy in and out: the header's bytes, nothing of files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/layout.h"

namespace gcbs {

inline constexpr std::string_view kNpyMagic{"\x93NUMPY", 6};

/// Finds the matrix in the bytes of a .npy file; `file` is what errors call it. Throws Error(input).
MatrixLayout parse_npy(std::span<const std::byte> bytes, const std::string& file);

/// Reads a vector of whole numbers, of any integer type. Throws Error(input).
std::vector<std::int64_t> parse_npy_integers(std::span<const std::byte> bytes, const std::string& file);

/// The three entries of a .npy header.
struct NpyDictionary {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

/// Reads the Python dictionary literal of a header. Throws Error(input).
NpyDictionary parse_npy_dictionary(std::string_view text, const std::string& file);

/// The bytes before the data of an array in C order: exactly what numpy.save writes.
std::string npy_header(std::string_view descr, std::span<const std::uint64_t> shape);

}  // namespace gcbs
