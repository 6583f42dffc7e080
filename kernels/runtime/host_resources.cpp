// SPDX-License-Identifier: Apache-2.0
// Threads that exceed the quota of a control group are stopped for the rest of each period (100 ms by
// default), and everything that waits for them stops as well. The kernel documents the files in
// admin-guide/cgroup-v2 and scheduler/sched-bwc.
#include "kernels/runtime/host_resources.hpp"

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>
#include <string_view>
#include <thread>

namespace sfft::detail {

namespace {

constexpr double kNoQuota = std::numeric_limits<double>::infinity();

/// Parses quota over period from "200000 100000"; "max" and v1's -1 mean that there is no quota.
double quota_of(std::istream&& text) {
  double quota = 0, period = 0;
  if (!(text >> quota >> period) || !(quota > 0) || !(period > 0)) return kNoQuota;
  return quota / period;
}

double quota_v1(const std::string& folder) {
  std::ifstream quota(folder + "/cpu.cfs_quota_us"), period(folder + "/cpu.cfs_period_us");
  std::string first, second;
  if (!(quota >> first) || !(period >> second)) return kNoQuota;
  return quota_of(std::istringstream(first + " " + second));
}

/// The smallest quota of the group and its parents. In a container, the path may be the host's path, and only
/// its root is mounted.
template <class Read>
double smallest(const std::string& mount, std::string group, const Read& read) {
  double min = read(mount);
  while (group.size() > 1) {
    min = std::min(min, read(mount + group));
    group.resize(group.rfind('/'));
  }
  return min;
}

int affinity_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());  // more than 1024 processors
}

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

double processor_quota(const std::string& proc_cgroup, const std::string& sys) {
  double min = kNoQuota;
  std::istringstream lines(proc_cgroup);
  for (std::string line; std::getline(lines, line);) {  // "hierarchy:controllers:/path"
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view controllers = std::string_view(line).substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (!group.starts_with('/')) continue;
    if (controllers.empty()) {
      min = std::min(min, smallest(sys, group, [](const std::string& folder) {
                       return quota_of(std::ifstream(folder + "/cpu.max"));
                     }));
    } else if ((controllers == "cpu" || controllers == "cpu,cpuacct" || controllers == "cpuacct,cpu")) {
      for (const char* mount : {"/cpu,cpuacct", "/cpu"})
        min = std::min(min, smallest(sys + mount, group, quota_v1));
    }
  }
  return min;
}

int usable_processors() {
  static const int count = [] {
    const double quota = std::ceil(processor_quota(text_of("/proc/self/cgroup"), "/sys/fs/cgroup"));
    const int allowed = std::max(1, affinity_processors());
    return quota < allowed ? std::max(1, static_cast<int>(quota)) : allowed;
  }();
  return count;
}

double host_memory_bytes() {
  struct sysinfo info {};
  if (::sysinfo(&info) != 0) return std::numeric_limits<double>::infinity();
  return (static_cast<double>(info.totalram) + static_cast<double>(info.totalswap)) * info.mem_unit;
}

}  // namespace sfft::detail
