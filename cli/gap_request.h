// The flags of `gcbs gap` and `gcbs compare`, and what they come to.
#pragma once

#include <string>
#include <vector>

#include "batch_flags.h"
#include "gcbs/gap.h"
#include "shared_flags.h"

namespace gcbs::cli {

struct GapFlags {
  InputFlags inputs;
  GraphFlags graph;
  FilterFlags filter;
  BatchFlags batches;
  RunFlags run;
  Word batch_size, temperature, direction, form, negatives, random_trials, per_batch;
  std::vector<std::string> orders, methods;
};

/// An order file and what the report calls it.
struct OrderFile {
  std::string name, path;
};

/// Fully decided but for what depends on the data; the files are yet to be read.
struct GapRequest {
  std::string x, y;
  std::string negatives, per_batch;  ///< empty: none
  std::vector<OrderFile> orders;
  FilterRequest filter;
  GapOptions options;
  bool json = false, quiet = false;

  /// All files that are read.
  std::vector<std::string> inputs() const;
};

/// Flags that both verbs have.
void declare_gap_flags(CLI::App& verb, GapFlags& flags);

/// Throws Error(usage). `example`: a command that works.
GapRequest resolve(const GapFlags& flags, const char* example);

}  // namespace gcbs::cli
