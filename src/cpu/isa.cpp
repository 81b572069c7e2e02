// Which instruction sets this build has and this machine runs; the only place that asks.
//
// CPUID says what the processor has, XCR0 what the system saves at a task switch. AMX needs two
// more things: permission from the kernel (arch_prctl), and proof, because hypervisors report it
// inconsistently (some hide leaves 0x1D/0x1E although AMX works). The proof is a tile product
// computed in a forked child, so that an illegal instruction ends the child, not the program.
#include <array>
#include <cerrno>
#include <cstdlib>
#include <string>

#include "cpu/amx_self_test.h"
#include "gcbs/cpu.h"
#include "gcbs/error.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace gcbs {
namespace {

struct Name {
  Isa isa;
  const char* name;
};
constexpr std::array kNames{Name{Isa::amx_int8, "amx_int8"}, Name{Isa::avx512_vnni, "avx512_vnni"},
                            Name{Isa::avx2, "avx2"}, Name{Isa::scalar, "scalar"}};

#if defined(__x86_64__)

struct Features {
  bool avx2 = false, avx512_vnni = false, amx_int8 = false;
};

bool bit(unsigned value, int index) { return (value >> index & 1u) != 0; }

std::uint64_t enabled_state() {
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32 | low;
}

/// Asks the kernel for tile state, then multiplies two tiles in a child process.
bool amx_works() {
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  if (syscall(SYS_arch_prctl, kRequestPermission, kTileData) != 0) return false;
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) _exit(amx_self_test() ? 0 : 1);
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

Features detect() {
  Features found;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return found;
  const bool xsave = bit(c, 27), fma = bit(c, 12), f16c = bit(c, 29);
  if (!xsave || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return found;
  const std::uint64_t state = enabled_state();
  constexpr std::uint64_t kAvxState = 0x6, kAvx512State = 0xE6, kAmxState = 0x60000;
  const bool bmi = bit(b, 3) && bit(b, 8);
  found.avx2 = (state & kAvxState) == kAvxState && bit(b, 5) && fma && f16c && bmi;
  const bool avx512 = bit(b, 16) && bit(b, 17) && bit(b, 30) && bit(b, 31);
  found.avx512_vnni = found.avx2 && (state & kAvx512State) == kAvx512State && avx512 && bit(c, 11);
  found.amx_int8 =
      found.avx512_vnni && (state & kAmxState) == kAmxState && bit(d, 24) && bit(d, 25) && amx_works();
  return found;
}

bool machine_has(Isa isa) {
  static const Features features = detect();
  switch (isa) {
    case Isa::amx_int8: return features.amx_int8;
    case Isa::avx512_vnni: return features.avx512_vnni;
    case Isa::avx2: return features.avx2;
    case Isa::scalar: return true;
  }
  return false;
}

constexpr bool is_compiled(Isa) { return true; }

#else

bool machine_has(Isa isa) { return isa == Isa::scalar; }
constexpr bool is_compiled(Isa isa) { return isa == Isa::scalar; }

#endif

std::string listed(const std::vector<Isa>& isas) {
  std::string text;
  for (const Isa isa : isas) text += (text.empty() ? "" : ", ") + std::string(name_of(isa));
  return text;
}

}  // namespace

const char* name_of(Isa isa) noexcept {
  for (const Name& entry : kNames)
    if (entry.isa == isa) return entry.name;
  return "unknown";
}

std::optional<Isa> isa_from(std::string_view name) noexcept {
  for (const Name& entry : kNames)
    if (name == entry.name) return entry.isa;
  return {};
}

std::vector<Isa> compiled_isas() {
  std::vector<Isa> isas;
  for (const Name& entry : kNames)
    if (is_compiled(entry.isa)) isas.push_back(entry.isa);
  return isas;
}

std::vector<Isa> available_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : compiled_isas())
    if (machine_has(isa)) isas.push_back(isa);
  return isas;
}

Isa choose_isa(std::optional<Isa> wanted) {
  const std::vector<Isa> available = available_isas();
  if (!wanted) {
    const char* forced = std::getenv("GCBS_ISA");
    if (forced == nullptr || *forced == '\0') return available.front();
    wanted = isa_from(forced);
    if (!wanted)
      throw Error(ErrorKind::usage, "GCBS_ISA=" + std::string(forced) + " names no instruction set",
                  "known are " + listed(compiled_isas()), "unset it or name one of those");
  }
  for (const Isa isa : available)
    if (isa == *wanted) return isa;
  throw Error(ErrorKind::unsupported, "instruction set " + std::string(name_of(*wanted)) + " cannot run here",
              "this machine and build offer " + listed(available), "choose one of those, or none");
}

}  // namespace gcbs
