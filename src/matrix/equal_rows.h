// Rows that are equal byte for byte: several queries of one code, several captions of one image.
#pragma once

#include <cstdint>
#include <vector>

#include "base/run.h"
#include "gcbs/matrix.h"

namespace gcbs {

/// For each row the lowest row that holds the same bytes.
std::vector<std::uint32_t> first_equal_rows(const MatrixView& matrix, const RunContext& run);

}  // namespace gcbs
