// Where the records of a text file begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/run.h"

namespace gcbs {

/// How a file is cut into records; its name decides.
struct RecordFormat {
  bool quoted = false;  ///< .csv: a newline between double quotes is part of the record
  bool header = false;  ///< .csv, .tsv: one record more than there are rows is a header
};
RecordFormat format_of(std::string_view path);

/// Where each of `rows` records begins, and where the last one ends: rows + 1 numbers. A byte order mark
/// and a header lie before the first. Throws Error(input), naming `path`: another number of records, a
/// quote that is never closed, bytes that are no text.
std::vector<std::uint64_t> find_records(std::span<const std::byte> bytes, const std::string& path,
                                        std::size_t rows, const RunContext& run);

}  // namespace gcbs
