// Any bytes as a .npy file: parsed or refused with an Error, nothing else.
#include "believe.h"
#include "io/npy.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> bytes = gcbs::copy_of(data, size);
  try {
    gcbs::believe(bytes, gcbs::parse_npy(bytes, "fuzz.npy"));
  } catch (const gcbs::Error&) {
  }
  return 0;
}
