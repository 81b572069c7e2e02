// .safetensors in: the header's bytes, nothing of files.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "io/layout.h"

namespace gcbs {

/// Finds the tensor `wanted`, or the only 2-D tensor, in the bytes of a .safetensors file; `file` is
/// what errors call it. Throws Error(input), which lists the tensors where the choice is the problem.
MatrixLayout parse_safetensors(std::span<const std::byte> bytes, const std::string& file,
                               const std::optional<std::string>& wanted);

}  // namespace gcbs
