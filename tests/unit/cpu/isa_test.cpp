#include <gtest/gtest.h>

#include <algorithm>

#include "gcbs/cpu.h"
#include "gcbs/error.h"

namespace gcbs {
namespace {

TEST(Isa, NamesRoundTrip) {
  for (const Isa isa : {Isa::amx_int8, Isa::avx512_vnni, Isa::avx2, Isa::scalar})
    EXPECT_EQ(isa_from(name_of(isa)), isa);
  EXPECT_FALSE(isa_from("sse9"));
}

TEST(Isa, AvailableIsASubsetOfCompiledBestFirstAndEndsWithScalar) {
  const auto compiled = compiled_isas(), available = available_isas();
  ASSERT_FALSE(available.empty());
  EXPECT_EQ(available.back(), Isa::scalar);
  EXPECT_TRUE(std::includes(compiled.begin(), compiled.end(), available.begin(), available.end()));
}

TEST(Isa, ForcingTakes) {
  for (const Isa isa : available_isas()) EXPECT_EQ(choose_isa(isa), isa);
}

TEST(Isa, ForcingOneThatIsNotHereListsWhatIs) {
  for (const Isa isa : compiled_isas()) {
    const auto available = available_isas();
    if (std::find(available.begin(), available.end(), isa) != available.end()) continue;
    try {
      choose_isa(isa);
      FAIL() << name_of(isa);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::unsupported);
      EXPECT_NE(error.reason().find("scalar"), std::string::npos);
    }
  }
}

TEST(Cores, AtLeastOne) { EXPECT_GE(usable_cores(), 1u); }

}  // namespace
}  // namespace gcbs
