// What this machine offers and which kernels will run.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace gcbs {

/// Best first. Every build has scalar; the others are compiled on x86-64.
enum class Isa : std::uint8_t { amx_int8, avx512_vnni, avx2, scalar };

const char* name_of(Isa isa) noexcept;
std::optional<Isa> isa_from(std::string_view name) noexcept;

/// The instruction sets this build has kernels for, best first.
std::vector<Isa> compiled_isas();
/// Those that this machine can run, best first; never empty.
std::vector<Isa> available_isas();
/// The wanted one, or GCBS_ISA's, or the best. Throws Error(unsupported) that lists what there is.
Isa choose_isa(std::optional<Isa> wanted = {});

/// Cores this process may use: affinity and cgroup quota, at least 1.
unsigned usable_cores();

}  // namespace gcbs
