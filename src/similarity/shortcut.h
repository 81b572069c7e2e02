// Whether the head of the embeddings pays, and how long it should be.
#pragma once

#include <optional>

#include "gcbs/similarity.h"
#include "similarity/head.h"
#include "similarity/sample.h"

namespace gcbs {

/// The head to scan with, or none: whole rows. A guess from a sample; the answer of the scan is the
/// same either way. `on` takes the best head even where whole rows look cheaper.
std::optional<Head> choose_head(const FinePrepared& fine, const TailSample& sample, Shortcut shortcut,
                                const Kernel& kernel, const RunContext& run);

}  // namespace gcbs
