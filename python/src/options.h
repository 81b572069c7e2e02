// Keyword arguments -> the options of the library. Names are those of the program's flags.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

#include "gcbs/gap.h"
#include "gcbs/mining.h"
#include "gcbs/pipeline.h"
#include "report/report.h"

namespace gcbs::python {

namespace nb = nanobind;

/// Reads one keyword after the other; None and absent are the same. Throws Error(usage).
class Given {
 public:
  explicit Given(nb::dict words) : words_(std::move(words)) {}

  nb::object get(const char* name) const;
  bool has(const char* name) const { return !get(name).is_none(); }
  bool flag(const char* name) const;
  std::optional<std::uint64_t> whole(const char* name) const;
  std::optional<double> real(const char* name) const;
  std::optional<std::string> text(const char* name) const;

 private:
  nb::dict words_;
};

PipelineOptions pipeline_options(const Given& given);
/// The relative margin of an order where no margin is given.
std::optional<double> default_margin(const Given& given);
GapOptions gap_options(const Given& given);
MiningOptions mining_options(const Given& given);

/// What the report calls the groups and guides.
std::vector<std::string> group_names(const std::vector<std::vector<std::int64_t>>& groups, bool duplicates);
FilterPaths filter_names(const FilterOptions& filter);

}  // namespace gcbs::python
