// SPDX-License-Identifier: Apache-2.0
// Takes the minimum of what /proc/meminfo, the control group (version 2 or 1) and RLIMIT_AS leave. A limit
// that cannot be read does not count.
#include "video/pipeline/memory.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "sfft/error.hpp"

namespace sfft::video {

namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

/// The number at the start of a file; empty for "max" or an unreadable file.
std::optional<std::int64_t> number_in(const char* path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (!(file >> number)) return std::nullopt;
  return number;
}

std::int64_t system_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  std::int64_t kilobytes = 0;
  while (file >> name >> kilobytes) {
    if (name == "MemAvailable:") return 1024 * kilobytes;
    std::getline(file, unit);
  }
  return kUnknown;
}

std::int64_t group_bytes() {
  constexpr const char* kFiles[][2] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  for (const auto& [limit_file, used_file] : kFiles) {
    const auto limit = number_in(limit_file);
    const auto used = number_in(used_file);
    if (limit && used) return std::max<std::int64_t>(0, *limit - *used);
  }
  return kUnknown;
}

std::int64_t process_bytes() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnknown;
  const auto pages = number_in("/proc/self/statm").value_or(0);  // the first number is the size
  return std::max<std::int64_t>(0,
                                static_cast<std::int64_t>(limit.rlim_cur) - pages * ::sysconf(_SC_PAGESIZE));
}

}  // namespace

std::int64_t available_memory_bytes() {
  return std::min({system_bytes(), group_bytes(), process_bytes()});
}

std::int64_t held_frames_limit_bytes() {
  return available_memory_bytes() / 2;
}

void check_held_frames(std::int64_t count, const Frame& frame, std::int64_t limit_bytes) {
  const auto bytes = std::max<std::int64_t>(1, static_cast<std::int64_t>(frame.samples.size()));
  const std::int64_t max = std::max<std::int64_t>(1, limit_bytes / bytes);
  if (count <= max) return;
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format(
          "learning from {} frames of {}x{} holds {:.1f} GB at once, and {:.1f} GB may be used, half of "
          "what is free: learn from at most {}",
          count, frame.width, frame.height, 1e-9 * static_cast<double>(count) * static_cast<double>(bytes),
          1e-9 * static_cast<double>(limit_bytes), max));
}

}  // namespace sfft::video
