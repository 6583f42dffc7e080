// SPDX-License-Identifier: Apache-2.0
// Tests CPU quotas of control groups, read from folders laid out as the kernel's documentation describes.
#include "kernels/runtime/host_resources.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

namespace host_resources_test {
namespace {

namespace fs = std::filesystem;
using sfft::detail::processor_quota;

class HostResourcesTest : public testing::Test {
 protected:
  HostResourcesTest() : root_(fs::path(testing::TempDir()) / fmt::format("sfft-groups-{}", ::getpid())) {}
  ~HostResourcesTest() override { fs::remove_all(root_); }

  void write(const std::string& file, const std::string& text) const {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  double quota(const std::string& proc_cgroup) const { return processor_quota(proc_cgroup, root_.string()); }

  fs::path root_;
};

TEST_F(HostResourcesTest, NoGroupsMeanNoQuota) {
  EXPECT_TRUE(std::isinf(quota("")));
  EXPECT_TRUE(std::isinf(quota("0::/\n")));
  EXPECT_TRUE(std::isinf(quota("garbage\n0:\n::\n0::relative\n")));
}

TEST_F(HostResourcesTest, QuotaOfTheSecondVersion) {
  write("cpu.max", "200000 100000\n");  // a container sees its control group as the root
  EXPECT_DOUBLE_EQ(quota("0::/\n"), 2);
  write("cpu.max", "max 100000\n");
  EXPECT_TRUE(std::isinf(quota("0::/\n")));
  write("cpu.max", "");
  EXPECT_TRUE(std::isinf(quota("0::/\n")));
}

TEST_F(HostResourcesTest, TheSmallestQuotaOfAllParentsCounts) {
  write("system.slice/cpu.max", "150000 100000\n");
  write("system.slice/job.service/cpu.max", "400000 100000\n");
  EXPECT_DOUBLE_EQ(quota("0::/system.slice/job.service\n"), 1.5);
  EXPECT_TRUE(std::isinf(quota("0::/user.slice\n")));
}

TEST_F(HostResourcesTest, QuotaOfTheFirstVersion) {
  const std::string groups = "12:memory:/box\n4:cpu,cpuacct:/box\n1:name=systemd:/box\n0::/box\n";
  write("cpu,cpuacct/box/cpu.cfs_quota_us", "-1\n");
  write("cpu,cpuacct/box/cpu.cfs_period_us", "100000\n");
  EXPECT_TRUE(std::isinf(quota(groups)));
  write("cpu,cpuacct/box/cpu.cfs_quota_us", "50000\n");
  EXPECT_DOUBLE_EQ(quota(groups), 0.5);
  EXPECT_TRUE(std::isinf(quota("9:cpuset:/box\n")));
}

TEST_F(HostResourcesTest, ThisMachineHasSome) {
  EXPECT_GE(sfft::detail::usable_processors(), 1);
  EXPECT_GT(sfft::detail::host_memory_bytes(), 1e6);
}

}  // namespace
}  // namespace host_resources_test
