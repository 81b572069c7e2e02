// How many cores this process may use: the affinity mask, cut down by the cgroup's CPU quota.
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>
#include <thread>

#include "gcbs/cpu.h"

namespace gcbs {
namespace {

unsigned affinity_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return static_cast<unsigned>(CPU_COUNT(&set));
  return std::thread::hardware_concurrency();
}

/// quota / period of cgroup v2 or v1; infinity where there is none.
double quota_cores() {
  std::string quota;
  double period = 0;
  std::ifstream v2("/sys/fs/cgroup/cpu.max");
  if (v2 >> quota >> period && quota != "max" && period > 0) return std::stod(quota) / period;
  double v1_quota = 0;
  std::ifstream q("/sys/fs/cgroup/cpu/cpu.cfs_quota_us"), p("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
  if (q >> v1_quota && p >> period && v1_quota > 0 && period > 0) return v1_quota / period;
  return INFINITY;
}

}  // namespace

unsigned usable_cores() {
  const double cores = std::min<double>(affinity_cores(), std::ceil(quota_cores()));
  return cores < 1 ? 1 : static_cast<unsigned>(cores);
}

}  // namespace gcbs
