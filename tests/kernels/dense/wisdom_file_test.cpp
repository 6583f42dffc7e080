// SPDX-License-Identifier: Apache-2.0
// Tests wisdom files through the public functions.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "kernels/dense/wisdom/wisdom.hpp"
#include "sfft/dense.hpp"
#include "tests/support/throws.hpp"

namespace wisdom_file_test {
namespace {

namespace fs = std::filesystem;
using sfft::ErrorCode;
using sfft::dense::forget_wisdom;
using sfft::dense::load_wisdom;
using sfft::dense::save_wisdom;
using sfft::dense::WisdomReport;
using sfft::detail::cpu_platform;
using sfft::detail::Wisdom;
using sfft::test::code_of;

class WisdomFileTest : public testing::Test {
 protected:
  WisdomFileTest() : directory_(fs::path(testing::TempDir()) / fmt::format("sfft-wisdom-{}", ::getpid())) {
    fs::create_directory(directory_);
    file_ = (directory_ / "wisdom.json").string();
    forget_wisdom();
  }
  ~WisdomFileTest() override { fs::remove_all(directory_); }

  void fill(int entries) {
    for (int i = 1; i <= entries; ++i)
      Wisdom::global().add(cpu_platform(), {"f32 c2c 64", i}, {"built_in", "", 1.0 + i});
  }
  std::string content() const {
    std::ifstream stream(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(directory_), fs::directory_iterator());
  }
  void expect_ignored(const std::string& why) const {
    const WisdomReport report = load_wisdom(file_);
    EXPECT_EQ(report.taken, 0);
    EXPECT_EQ(report.reason.find("'" + file_ + "': "), 0u) << report.reason;
    EXPECT_NE(report.reason.find(why), std::string::npos) << report.reason;
    EXPECT_FALSE(Wisdom::global().find(cpu_platform(), {"f32 c2c 64", 1}));
  }

  fs::path directory_;
  std::string file_;
};

TEST_F(WisdomFileTest, ComesBack) {
  fill(3);
  save_wisdom(file_);
  const std::string saved = content();
  forget_wisdom();
  EXPECT_FALSE(Wisdom::global().find(cpu_platform(), {"f32 c2c 64", 2}));
  const WisdomReport report = load_wisdom(file_);
  EXPECT_EQ(report.taken, 3);
  EXPECT_EQ(report.reason, "");
  EXPECT_EQ(Wisdom::global().find(cpu_platform(), {"f32 c2c 64", 2})->us, 3.0);
  save_wisdom(file_);
  EXPECT_EQ(content(), saved);
  EXPECT_EQ(files(), 1);
}

TEST_F(WisdomFileTest, WhatIsNoWisdomIsIgnoredWithTheReason) {
  expect_ignored("there is no such file");
  std::ofstream(file_).close();
  expect_ignored("damaged");
  std::ofstream(file_) << std::string(20'000'000, '[');
  expect_ignored("no wisdom has more than");
  fs::remove(file_);
  fs::create_directory(file_);
  expect_ignored("not a file");
  fs::remove(file_);
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  expect_ignored("not a file");
  fs::remove(file_);
  fs::create_symlink("/nowhere/at/all", file_);
  expect_ignored("there is no such file");
  EXPECT_NE(load_wisdom("").reason, "");
  EXPECT_NE(load_wisdom(std::string(100000, 'x')).reason, "");
}

TEST_F(WisdomFileTest, AFileThatMayNotBeReadIsIgnored) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  save_wisdom(file_);
  fs::permissions(file_, fs::perms::none);
  expect_ignored("permissions");
}

TEST_F(WisdomFileTest, FailureToSaveLeavesWhatWasThere) {
  const auto code_of_save = [](const std::string& path) { return code_of([&] { save_wisdom(path); }); };
  EXPECT_EQ(code_of_save((directory_ / "missing" / "wisdom.json").string()), ErrorCode::file_unreadable);
  EXPECT_EQ(code_of_save(directory_.string()), ErrorCode::file_unreadable);
  EXPECT_EQ(code_of_save(""), ErrorCode::file_unreadable);

  fill(1);
  save_wisdom(file_);
  const std::string before = content();
  fill(1000);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{4096, limit.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto code = code_of_save(file_);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(code, ErrorCode::file_unreadable);
  EXPECT_EQ(content(), before);
  EXPECT_EQ(files(), 1);
}

TEST_F(WisdomFileTest, SavingMergesWithWhatTheFileHolds) {
  const sfft::detail::WisdomPlatform elsewhere{"NVIDIA B200", "13.1", "0.0.1"};
  Wisdom::global().add(elsewhere, {"f32 c2c 128", 4}, {"cufft", "", 7.0});
  fill(2);
  save_wisdom(file_);
  forget_wisdom();  // as in another process, which loads nothing
  Wisdom::global().add(cpu_platform(), {"f32 c2c 64", 1}, {"built_in", "", 0.5});
  Wisdom::global().add(cpu_platform(), {"f64 c2c 64", 1}, {"built_in", "", 9.0});
  save_wisdom(file_);
  forget_wisdom();
  EXPECT_EQ(load_wisdom(file_).taken, 4);
  EXPECT_EQ(Wisdom::global().find(elsewhere, {"f32 c2c 128", 4})->us, 7.0);
  EXPECT_EQ(Wisdom::global().find(cpu_platform(), {"f32 c2c 64", 1})->us, 0.5)
      << "what was measured last counts";
  EXPECT_EQ(Wisdom::global().find(cpu_platform(), {"f32 c2c 64", 2})->us, 3.0);
  EXPECT_EQ(Wisdom::global().find(cpu_platform(), {"f64 c2c 64", 1})->us, 9.0);
}

TEST_F(WisdomFileTest, ProcessesThatSaveTogetherLoseNothing) {
  constexpr int kProcesses = 8, kSizes = 12;
  std::vector<pid_t> children;
  for (int process = 0; process < kProcesses; ++process) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (int i = 0; i < kSizes; ++i) {
        Wisdom::global().add(cpu_platform(), {fmt::format("f32 c2c {}", 100 * process + i + 1), 1},
                             {"built_in", "", 1.0});
        save_wisdom(file_);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(load_wisdom(file_).taken, kProcesses * kSizes);
  EXPECT_EQ(files(), 1);
}

TEST_F(WisdomFileTest, AFileThatIsNotWisdomIsNotReplaced) {
  fill(1);
  const auto refused = [this](const std::string& before) {
    std::ofstream(file_, std::ios::binary) << before;
    EXPECT_EQ(code_of([this] { save_wisdom(file_); }), ErrorCode::file_corrupt) << before;
    EXPECT_EQ(content(), before);
  };
  refused("my notes");
  refused(R"({"format": "sfft-wisdom", "version": 99, "entries": []})");
  std::ofstream(file_).close();  // an empty file, as mktemp makes it
  save_wisdom(file_);
  EXPECT_EQ(load_wisdom(file_).taken, 1);
}

TEST_F(WisdomFileTest, ReadersNeverSeeHalfAFile) {
  fill(300);
  save_wisdom(file_);
  std::atomic<int> writers{2};
  std::vector<std::thread> threads;
  for (int writer = 0; writer < 2; ++writer) {
    threads.emplace_back([this, &writers] {
      for (int i = 0; i < 50; ++i) save_wisdom(file_);
      --writers;
    });
  }
  while (writers > 0) {
    const WisdomReport report = load_wisdom(file_);
    EXPECT_EQ(report.taken, 300);
    EXPECT_EQ(report.reason, "");
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(files(), 1);
}

}  // namespace
}  // namespace wisdom_file_test
