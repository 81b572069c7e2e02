// What `gcbs gap` and `gcbs compare` found: one JSON object for scripts, tables for people.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gcbs/gap.h"
#include "report/report.h"

namespace gcbs {

struct GapReport {
  std::string command;  ///< gap or compare
  std::string x_path, y_path, negatives_path, per_batch_path;
  std::vector<std::string> order_paths;
  FilterPaths filter;
  std::size_t rows = 0, dim = 0;
  GapOptions options;  ///< ids and orders need not be in it
  GapResult result;
  double seconds = 0;
};

std::string json_of(const GapReport& report);

/// gap: every number, labelled, order by order. compare: one row an order, the best marked.
std::string text_of(const GapReport& report);

}  // namespace gcbs
