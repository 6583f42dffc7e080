// SPDX-License-Identifier: Apache-2.0
// What the host grants this process: the number of processors it may use at the same time ("one thread per
// core"), and the total memory.
#pragma once

#include <string>

namespace sfft::detail {

/// The processors of the affinity mask, limited by the CPU quota of the control groups (containers); at least
/// 1. A quota of 2.5 processors counts as 3. Read once per process.
int usable_processors();

/// The smallest CPU quota, in processors, of the control group of this process and its parents; infinite
/// where there is none. `proc_cgroup` is the text of /proc/self/cgroup, `sys` the mount point of the control
/// groups. Reads cgroup v2 (cpu.max) and v1 (cpu.cfs_quota_us, cpu.cfs_period_us).
double processor_quota(const std::string& proc_cgroup, const std::string& sys);

/// Main memory plus swap space of the machine: work that needs more can never run. Infinite if unknown.
double host_memory_bytes();

}  // namespace sfft::detail
