// Pieces that the lines of several verbs share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gcbs/cpu.h"
#include "gcbs/observer.h"

namespace gcbs {

/// 0.0123 -> "12.3 ms", 1.5 -> "1.50 s", 300 -> "300 s".
std::string seconds_text(double seconds);
/// The whole, and the stages that took time worth a reader's eye, in order.
std::string stages_text(double seconds, const std::vector<Stage>& stages);
std::string memory_text(std::uint64_t peak_bytes, Isa isa, unsigned threads);

}  // namespace gcbs
