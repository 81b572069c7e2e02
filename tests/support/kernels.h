// The kernels that tests run through, and whether this build is a slow one.
#pragma once

#include <string>
#include <vector>

#include "similarity/find_edges.h"

namespace gcbs::testing {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSlowBuild = true;  // under a sanitizer fewer sizes and kinds say what there is to say
#else
inline constexpr bool kSlowBuild = false;
#endif

struct NamedKernel {
  std::string name;
  const Kernel* kernel;
};

/// The kernels that can run here, and the stand-ins of all. Races do not depend on leaf operations: where
/// they are looked for, the best kernel is enough.
inline std::vector<NamedKernel> runnable_kernels() {
  std::vector<NamedKernel> kernels;
  for (const Isa isa : available_isas()) {
    kernels.push_back({name_of(isa), &kernel_for(isa)});
#if defined(__SANITIZE_THREAD__)
    return kernels;
#endif
  }
  kernels.push_back({"avx2_standin", &kAvx2StandIn});
  kernels.push_back({"avx512_vnni_standin", &kAvx512VnniStandIn});
  kernels.push_back({"amx_int8_standin", &kAmxInt8StandIn});
  return kernels;
}

}  // namespace gcbs::testing
