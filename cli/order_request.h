// The flags of `gcbs order`, and what they come to.
#pragma once

#include <string>
#include <vector>

#include "batch_flags.h"
#include "gcbs/pipeline.h"
#include "pack_flags.h"
#include "shared_flags.h"

namespace CLI {
class App;
}

namespace gcbs::cli {

struct OrderFlags {
  InputFlags inputs;
  GraphFlags graph;
  BatchFlags batches;
  PackFlags pack;
  FilterFlags filter;
  RunFlags run;
  Word batch_size, method, temperature, output, edges, extra_output;
  std::vector<std::string> reorder, reordered;
  bool paper = false, no_verdict = false;
};

/// Adds the flags to the verb; `flags` must outlive the parse.
void declare_flags(CLI::App& verb, OrderFlags& flags);

/// What to do, fully decided but for what depends on the data.
struct OrderRequest {
  std::string x, y;  ///< y equals x where none was given
  std::string output;
  std::string edges, extra;                     ///< empty: not wanted
  std::vector<std::string> reorder, reordered;  ///< files of records, and where each goes
  FilterRequest filter;
  std::string from;  ///< an order to start from; empty: none
  PipelineOptions options;
  bool paper = false, json = false, quiet = false;
};

/// Throws Error(usage): a value out of range, a flag missing, flags that contradict each other.
OrderRequest resolve(const OrderFlags& flags);

}  // namespace gcbs::cli
