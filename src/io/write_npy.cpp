// Arrays out as .npy: byte for byte what numpy.save writes, all or nothing (unfinished_file.cpp).
//
// Cost: one pass over the data. Orders go out as they lie in memory; edges are paired up in a buffer of
// 1 MiB, so that the E x 2 matrix never exists as a whole.
#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "gcbs/error.h"
#include "gcbs/io.h"
#include "io/npy.h"
#include "io/unfinished_file.h"

namespace gcbs {
namespace {

std::span<const std::byte> bytes_in(const std::string& text) { return std::as_bytes(std::span(text)); }

template <class T>
void write_array(const std::filesystem::path& path, std::string_view descr, std::span<const T> values,
                 std::size_t columns, OutputFiles* together) {
  const std::array shape{std::uint64_t{columns == 0 ? values.size() : values.size() / columns},
                         std::uint64_t{columns}};
  const std::string header = npy_header(descr, std::span(shape).first(columns == 0 ? 1 : 2));
  auto file = std::make_unique<UnfinishedFile>(path, header.size() + values.size_bytes());
  file->write(bytes_in(header));
  file->write(std::as_bytes(values));
  hand_over(std::move(file), together);
}

struct Pair {
  std::int32_t row, col;
};
static_assert(sizeof(Pair) == 8);

}  // namespace

void write_npy(const std::filesystem::path& path, std::span<const std::int64_t> values, std::size_t columns,
               OutputFiles* together) {
  write_array(path, "<i8", values, columns, together);
}

void write_npy(const std::filesystem::path& path, std::span<const float> values, std::size_t columns,
               OutputFiles* together) {
  write_array(path, "<f4", values, columns, together);
}

void write_npy(const std::filesystem::path& path, std::span<const double> values, std::size_t columns,
               OutputFiles* together) {
  write_array(path, "<f8", values, columns, together);
}

void write_npy_edges(const std::filesystem::path& path, std::span<const std::uint64_t> offsets,
                     std::span<const std::uint32_t> columns, OutputFiles* together) {
  constexpr std::uint64_t kMostRows = std::numeric_limits<std::int32_t>::max();
  const bool covers = !offsets.empty() && offsets.front() == 0 && offsets.back() == columns.size() &&
                      std::is_sorted(offsets.begin(), offsets.end());
  if (!covers || offsets.size() - 1 > kMostRows)
    throw Error(ErrorKind::usage, "cannot write " + path.string(),
                covers ? "int32 pairs cannot name more than 2^31 - 1 rows"
                       : "the graph's offsets do not rise from 0 to the number of its columns");
  const std::string header = npy_header("<i4", std::array{std::uint64_t{columns.size()}, std::uint64_t{2}});
  auto file = std::make_unique<UnfinishedFile>(path, header.size() + columns.size() * sizeof(Pair));
  file->write(bytes_in(header));

  constexpr std::size_t kBufferPairs = std::size_t{1} << 17;
  const auto buffer = std::make_unique<Pair[]>(std::min(kBufferPairs, columns.size()));
  std::size_t held = 0;
  const auto flush = [&] {
    file->write(std::as_bytes(std::span(buffer.get(), held)));
    held = 0;
  };
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row)
    for (std::uint64_t edge = offsets[row]; edge < offsets[row + 1]; ++edge) {
      if (held == kBufferPairs) flush();
      buffer[held++] = {static_cast<std::int32_t>(row), static_cast<std::int32_t>(columns[edge])};
    }
  flush();
  hand_over(std::move(file), together);
}

}  // namespace gcbs
