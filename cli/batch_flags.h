// Flags that say how an order becomes batches.
#pragma once

#include "gcbs/batches.h"
#include "shared_flags.h"

namespace gcbs::cli {

struct BatchFlags {
  Word block, random_share, epoch, extra;
};

/// Adds the flags to the verb; the flags must outlive the parse.
void declare_batches(CLI::App& verb, BatchFlags& flags);

/// Throws Error(usage) for what is wrong whatever the data.
BatchOptions resolve_batches(const BatchFlags& flags, std::size_t batch_size);

}  // namespace gcbs::cli
