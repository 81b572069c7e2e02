// Which shortcuts pay: a head, how long, in one part or in two with the rows in cluster order.
#pragma once

#include <optional>

#include "gcbs/similarity.h"
#include "similarity/head.h"
#include "similarity/sample.h"

namespace gcbs {

/// The head to scan with, or none: whole rows. May put the rows of `fine` into cluster order, unless
/// `keep_order`. A guess from samples; the answer of the scan is the same either way. `on` takes the
/// shortcuts that are cheapest even where whole rows look cheaper, cluster order included.
std::optional<Head> choose_shortcut(FinePrepared& fine, const TailSample& sample, Shortcut shortcut,
                                    bool keep_order, const Kernel& kernel, const RunContext& run);

}  // namespace gcbs
