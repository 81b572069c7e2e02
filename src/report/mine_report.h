// What `gcbs mine` found.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gcbs/mining.h"
#include "report/report.h"

namespace gcbs {

struct MineReport {
  std::string x_path, corpus_path, positives_path;
  std::vector<std::string> group_paths;  ///< or the word duplicates
  std::string output_path, scores_path;
  std::size_t rows = 0, corpus_rows = 0, dim = 0;
  MiningOptions options;  ///< ids and positives need not be in it
  MiningResult result;    ///< stages from read to write; the arrays need not be in it
  std::size_t found = 0;  ///< negatives in all
  double seconds = 0;
};

std::string json_of(const MineReport& report);
std::vector<ReportLine> lines_of(const MineReport& report);

}  // namespace gcbs
