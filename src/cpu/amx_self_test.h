#pragma once

namespace gcbs {

/// Multiplies two small int8 tiles and compares with the plain sum. Raises SIGILL where AMX does
/// not work: call it in a child process.
bool amx_self_test() noexcept;

}  // namespace gcbs
