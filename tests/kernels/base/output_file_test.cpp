// SPDX-License-Identifier: Apache-2.0
// Tests the writer of all outputs: whatever a path leads to, it holds either the whole old file or the whole
// new one.
#include "kernels/runtime/output_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "sfft/error.hpp"
#include "tests/support/throws.hpp"

namespace sfft::detail::output_file_test {
namespace {

namespace fs = std::filesystem;
using test::code_of;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() : folder_(fs::path(testing::TempDir()) / ("sfft-output-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~OutputFileTest() override { fs::remove_all(folder_); }

  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  static struct stat status(const std::string& path) {
    struct stat found {};
    EXPECT_EQ(::lstat(path.c_str(), &found), 0) << path;
    return found;
  }
  std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  void expect_refused(const std::string& path) const {
    const std::ptrdiff_t before = files();
    EXPECT_EQ(code_of([&] { OutputFile file(path); }), ErrorCode::file_unreadable) << path;
    EXPECT_EQ(files(), before) << "files left next to " << path;
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, NothingShowsBeforeTheCommit) {
  const std::string path = at("report");
  {
    OutputFile file(path);
    file.write("never seen");
    EXPECT_FALSE(fs::exists(path));
  }
  EXPECT_EQ(files(), 0);
  write_whole(path, "one");
  OutputFile file(path);
  file.write("tw");
  file.write("o");
  EXPECT_EQ(read(path), "one");
  file.commit();
  EXPECT_EQ(read(path), "two");
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, ModeAndOwnerStay) {
  const mode_t mask = ::umask(027);
  write_whole(at("new"), "x");
  ::umask(mask);
  EXPECT_EQ(status(at("new")).st_mode & 0777, 0640u) << "a new file is as the umask has it";
  for (const mode_t mode : {0600u, 0604u, 0660u, 0777u}) {
    put(at("old"), "x");
    ASSERT_EQ(::chmod(at("old").c_str(), mode), 0);
    write_whole(at("old"), "y");
    EXPECT_EQ(status(at("old")).st_mode & 07777, mode);
    EXPECT_EQ(read(at("old")), "y");
  }
  if (::geteuid() != 0) return;  // only root may change owners
  ASSERT_EQ(::chown(at("old").c_str(), 1234, 4321), 0);
  write_whole(at("old"), "z");
  EXPECT_EQ(status(at("old")).st_uid, 1234u);
  EXPECT_EQ(status(at("old")).st_gid, 4321u);
}

TEST_F(OutputFileTest, LinksAreFollowedAndStayLinks) {
  fs::create_directory(at("elsewhere"));
  put(at("elsewhere/file"), "old");
  fs::create_symlink("elsewhere/file", at("relative"));
  fs::create_symlink(at("relative"), at("absolute"));
  fs::create_symlink("elsewhere/new", at("dangling"));
  for (const char* name : {"relative", "absolute", "dangling"}) {
    write_whole(at(name), name);
    EXPECT_TRUE(fs::is_symlink(at(name)));
    EXPECT_EQ(read(at(name)), name);
  }
  EXPECT_EQ(read(at("elsewhere/file")), "absolute");
  EXPECT_EQ(read(at("elsewhere/new")), "dangling");
  EXPECT_EQ(files(), 4);
}

TEST_F(OutputFileTest, StreamsAreWrittenToAndStayStreams) {
  ASSERT_EQ(::mkfifo(at("fifo").c_str(), 0600), 0);
  fs::create_symlink("fifo", at("link"));
  for (const char* name : {"fifo", "link"}) {
    std::string got;
    std::thread reader;
    {
      OutputFile file(at(name));  // does not wait for the reader
      EXPECT_EQ(file.kind(), OutputKind::stream);
      reader = std::thread([&] { got = read(at(name)); });
      file.write("through ");
      file.write("the pipe");
      file.commit();
    }  // closing it ends the stream
    reader.join();
    EXPECT_EQ(got, "through the pipe");
  }
  EXPECT_TRUE(S_ISFIFO(status(at("fifo")).st_mode));
  write_whole("/dev/null", "nothing");
  EXPECT_TRUE(S_ISCHR(status("/dev/null").st_mode));
  EXPECT_EQ(code_of([] { write_whole("/dev/full", "x"); }), ErrorCode::file_unreadable);
  EXPECT_EQ(files(), 2);
}

TEST_F(OutputFileTest, OpenDescriptorsAreWrittenWhereTheyStand) {
  put(at("log"), "before ");
  const int log = ::open(at("log").c_str(), O_WRONLY | O_APPEND);
  ASSERT_GE(log, 0);
  write_whole("/dev/fd/" + std::to_string(log), "after");
  fs::create_symlink("/proc/self/fd/" + std::to_string(log), at("link"));
  write_whole(at("link"), "!");
  ::close(log);
  EXPECT_EQ(read(at("log")), "before after!");
  expect_refused("/dev/fd/" + std::to_string(log));
  const int readable = ::open(at("log").c_str(), O_RDONLY);
  expect_refused("/dev/fd/" + std::to_string(readable));
  ::close(readable);
}

TEST_F(OutputFileTest, WhatCannotBeWrittenIsRefusedAtOnce) {
  fs::create_directory(at("directory"));
  put(at("read-only"), "x");
  ASSERT_EQ(::chmod(at("read-only").c_str(), 0444), 0);
  fs::create_symlink("read-only", at("link"));
  fs::create_symlink("circle", at("circle"));
  for (const char* name : {"directory", "directory/", "missing/file", "missing/", "read-only",
                           "read-only/file", "link", "circle", "circle/file"}) {
    expect_refused(at(name));
  }
  expect_refused("");
  expect_refused(at(std::string(300, 'x')));
  expect_refused(std::string(100000, 'x'));
  expect_refused(std::string("a\0b", 3));
  EXPECT_EQ(read(at("read-only")), "x");
}

TEST_F(OutputFileTest, TheSameFileIsKnownByEveryName) {
  put(at("file"), "x");
  fs::create_hard_link(at("file"), at("hard"));
  fs::create_symlink("file", at("soft"));
  const OutputFile file(at("file"));
  for (const std::string& name :
       {at("file"), at("hard"), at("soft"), at("./../") + folder_.filename().string() + "/file"}) {
    EXPECT_TRUE(file.same_as(OutputFile(name))) << name;
    EXPECT_TRUE(file.leads_to(name)) << name;
  }
  EXPECT_FALSE(file.same_as(OutputFile(at("other"))));
  EXPECT_FALSE(file.leads_to(at("other")));
  const OutputFile missing(at("new"));
  EXPECT_TRUE(missing.same_as(OutputFile(at("./new"))));
  EXPECT_FALSE(missing.same_as(OutputFile(at("newer"))));
  EXPECT_FALSE(OutputFile("/dev/null").same_as(OutputFile("/dev/null"))) << "nothing in a device is lost";
}

TEST_F(OutputFileTest, ManyWritersOfOneFileLeaveOneOfTheirs) {
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([this, writer] {
      const std::string text(5000, static_cast<char>('a' + writer));
      for (int i = 0; i < 25; ++i) write_whole(at("file"), text);
    });
  }
  for (std::thread& writer : writers) writer.join();
  const std::string text = read(at("file"));
  ASSERT_EQ(text.size(), 5000u);
  EXPECT_EQ(text.find_first_not_of(text[0]), std::string::npos);
  EXPECT_EQ(files(), 1);
}

TEST_F(OutputFileTest, WhatKilledWritersLeftIsRemovedAndNothingElse) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    OutputFile file(at("killed"));
    file.write("half");
    ::raise(SIGKILL);
  }
  int how = 0;
  ASSERT_EQ(::waitpid(child, &how, 0), child);
  ASSERT_TRUE(WIFSIGNALED(how));
  ASSERT_EQ(files(), 1) << "the killed writer's";
  for (const char* name : {".sfft-1-0123456789abcdef.tmp", ".sfft-999999999-0123456789abcdeg.tmp",
                           ".sfft-999999999-0123.tmp", "sfft-999999999-0123456789abcdef.tmp"}) {
    put(at(name), "process 1 lives, and the others are not our names");
  }
  OutputFile living(at("living"));
  write_whole(at("next"), "x");
  EXPECT_EQ(files(), 6) << "four that stay, the living one's and the new file";
  living.commit();
  EXPECT_TRUE(fs::exists(at("living")));
}

TEST_F(OutputFileTest, EverySizeLimitLeavesTheOldFileOrTheNewOne) {
  const std::string old(100, 'o');
  const std::string text(300, 'n');
  put(at("file"), old);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (rlim_t max = 0; max <= text.size(); ++max) {
    const rlimit small{max, limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    bool failed = false;
    try {
      write_whole(at("file"), text);
    } catch (const Error&) {
      failed = true;
    }
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    EXPECT_EQ(failed, max < text.size());
    EXPECT_EQ(read(at("file")), failed ? old : text);
    EXPECT_EQ(files(), 1);
  }
  std::signal(SIGXFSZ, handler);
}

TEST_F(OutputFileTest, WhatIsPlantedMeanwhileIsNotFollowed) {
  put(at("precious"), "precious");
  OutputFile file(at("file"));
  file.write("new");
  fs::create_symlink("precious", at("file"));
  EXPECT_EQ(code_of([&] { file.commit(); }), ErrorCode::file_unreadable);
  EXPECT_EQ(read(at("precious")), "precious");

  OutputFile other(at("other"));
  other.write("new");
  fs::remove(other.temporary_path());
  fs::create_symlink("precious", other.temporary_path());
  EXPECT_EQ(code_of([&] { other.commit(); }), ErrorCode::file_unreadable);
  EXPECT_FALSE(fs::exists(at("other")));
  EXPECT_EQ(read(at("precious")), "precious");
}

}  // namespace
}  // namespace sfft::detail::output_file_test
