// What a run found: one JSON object for scripts, labelled lines for people. Returns text, prints none.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "gcbs/cpu.h"
#include "gcbs/pipeline.h"

namespace gcbs {

/// One line for people: "edges" | "12,762,624 (512.0 a row)".
struct ReportLine {
  std::string label, text;
};

/// The files of a filter, as the run was given them.
struct FilterPaths {
  std::vector<std::string> groups;  ///< or the word duplicates
  std::string guide_x, guide_y;     ///< empty: none
};

/// A finished `gcbs order`: what was asked, and the result with the program's own stages in it.
struct OrderReport {
  std::string x_path, y_path, output_path;
  std::string edges_path;  ///< empty: none written
  std::string from_path;   ///< empty: none read
  std::string extra_path;
  std::vector<std::string> reorder_paths, reordered_paths;  ///< as many of either
  std::size_t rows = 0, dim = 0;
  PipelineOptions options;
  bool paper = false;
  OrderResult result;  ///< stages from read to write
  FilterPaths filter{};
  double seconds = 0;  ///< the whole run
};

/// What this build and this machine offer.
struct MachineReport {
  std::vector<Isa> compiled, available;
  Isa chosen = Isa::scalar;
  unsigned cores = 1;
  double seconds = 0;
};

/// The objects that `--json` prints; the keys are a promise (docs/formats.md), more may be added.
std::string json_of(const OrderReport& report);
std::string json_of(const MachineReport& report);

std::vector<ReportLine> lines_of(const OrderReport& report);
std::vector<ReportLine> lines_of(const MachineReport& report);

/// 1234567 -> "1,234,567".
std::string grouped(std::uint64_t value);
/// 12345678 -> "11.8 MiB".
std::string bytes_text(std::uint64_t bytes);

}  // namespace gcbs
