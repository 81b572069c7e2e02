// The words of refusal that every reader shares.
#pragma once

#include <string>
#include <string_view>

namespace gcbs {

/// Text out of a file made fit for an error message: what is not printable ASCII becomes '?', what
/// exceeds `limit` bytes is cut.
std::string printable(std::string_view text, std::size_t limit = 120);

/// Throws Error(input): "cannot read <file>", why, and what to do about it.
[[noreturn]] void refuse(const std::string& file, std::string reason, std::string fix);

}  // namespace gcbs
