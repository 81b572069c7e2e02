// Flags of the method pack.
#pragma once

#include "gcbs/ordering.h"
#include "shared_flags.h"

namespace gcbs::cli {

struct PackFlags {
  Word objective, effort, from;
  bool any() const noexcept { return objective || effort || from; }
};
/// The order to start from is read from its file later.
struct PackRequest {
  PackOptions options;
  std::string from;  ///< empty: start anew
};

/// Adds the flags to the verb; the flags must outlive the parse.
void declare_pack(CLI::App& verb, PackFlags& flags);

/// `packs`: whether the method is asked for. Throws Error(usage) for what is wrong whatever the data.
PackRequest resolve_pack(const PackFlags& flags, bool packs);

}  // namespace gcbs::cli
