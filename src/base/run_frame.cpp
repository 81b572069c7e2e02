#include "base/run_frame.h"

#include <algorithm>
#include <cmath>

#include "base/memory.h"
#include "gcbs/error.h"

namespace gcbs {
namespace {

std::string gigabytes(double bytes) {
  const auto tenths = static_cast<long long>(std::min(std::ceil(bytes / 1e8), 1e18));
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GB";
}

}  // namespace

void check_memory(double needed_bytes, std::uint64_t limit_bytes, const std::string& fix) {
  const double allowed = limit_bytes != 0 ? static_cast<double>(limit_bytes)
                                          : 0.8 * static_cast<double>(available_memory_bytes());
  if (needed_bytes <= allowed) return;
  throw Error(ErrorKind::resource, "this run needs about " + gigabytes(needed_bytes) + " of memory",
              gigabytes(allowed) + (limit_bytes != 0 ? " are allowed by the memory limit"
                                                     : " may be used (80 % of what is available)"),
              fix);
}

void Progress::begin(std::string_view name) {
  clock_.begin(name);
  if (observer_ != nullptr) observer_->begin_stage(name);
}

std::vector<Stage> Progress::finish() {
  clock_.end();
  std::vector<Stage> stages;
  for (const StageClock::Entry& entry : clock_.entries()) stages.push_back({entry.name, entry.seconds});
  return stages;
}

}  // namespace gcbs
