// Any bytes as a .safetensors file, with and without a tensor's name: parsed or refused with an Error.
#include "believe.h"
#include "io/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::byte> bytes = gcbs::copy_of(data, size);
  for (const auto& wanted : {std::optional<std::string>{}, std::optional<std::string>{"emb"}}) try {
      gcbs::believe(bytes, gcbs::parse_safetensors(bytes, "fuzz.safetensors", wanted));
    } catch (const gcbs::Error&) {
    }
  return 0;
}
