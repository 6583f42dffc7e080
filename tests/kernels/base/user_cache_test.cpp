// SPDX-License-Identifier: Apache-2.0
// Tests that values come back from the user's cache, and that files which are damaged or not the user's are
// ignored.
#include "kernels/runtime/user_cache.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace user_cache_test {
namespace {

namespace fs = std::filesystem;
using sfft::detail::UserCache;

class UserCacheTest : public testing::Test {
 protected:
  UserCacheTest() {
    std::string name = (fs::temp_directory_path() / "sfft-cache-XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~UserCacheTest() override { fs::remove_all(root_); }

  std::string folder() const { return (root_ / "deep" / "cache").string(); }
  /// The only file of the cache.
  fs::path only_file() const {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator(folder())) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    EXPECT_EQ(files.size(), 1u);
    return files.empty() ? fs::path() : files.front();
  }
  static std::string contents(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }

  fs::path root_;
};

TEST_F(UserCacheTest, ValuesComeBack) {
  const UserCache cache(folder());
  EXPECT_FALSE(cache.find("kernels", "key"));
  EXPECT_FALSE(fs::exists(folder())) << "looking for a value creates nothing";
  std::mt19937_64 random(3);
  std::vector<std::pair<std::string, std::string>> all;
  for (int i = 0; i < 40; ++i) {
    std::string key(random() % 300, '\0'), value(random() % 5000, '\0');
    for (char& c : key) c = static_cast<char>(random());
    for (char& c : value) c = static_cast<char>(random());
    all.emplace_back(key + std::to_string(i), value);
    cache.store("kernels", all.back().first, value);
  }
  const UserCache again(folder());
  for (const auto& [key, value] : all) {
    EXPECT_EQ(again.find("kernels", key), value);
    EXPECT_FALSE(again.find("wisdom", key)) << "kinds are separate";
  }
  cache.store("kernels", all[0].first, "new");
  EXPECT_EQ(again.find("kernels", all[0].first), "new");
  EXPECT_EQ(fs::status(folder()).permissions(), fs::perms::owner_all);
}

TEST_F(UserCacheTest, EveryDamageIsNoticed) {
  const UserCache cache(folder());
  cache.store("kernels", "a key", "a value");
  const fs::path file = only_file();
  const std::string good = contents(file);
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    write(file, bad);
    EXPECT_FALSE(cache.find("kernels", "a key")) << "byte " << i;
    write(file, good.substr(0, i));
    EXPECT_FALSE(cache.find("kernels", "a key")) << "cut at " << i;
  }
  write(file, good + "x");
  EXPECT_FALSE(cache.find("kernels", "a key"));
  write(file, good);
  EXPECT_EQ(cache.find("kernels", "a key"), "a value");
}

TEST_F(UserCacheTest, OnlyFilesOfTheUserCount) {
  const UserCache cache(folder());
  cache.store("kernels", "key", "value");
  const fs::path file = only_file();
  ASSERT_EQ(chmod(file.c_str(), 0666), 0);  // everybody may write it
  EXPECT_FALSE(cache.find("kernels", "key"));
  cache.store("kernels", "key", "value");  // replaces it with a file of the usual mode
  EXPECT_EQ(cache.find("kernels", "key"), "value");
  const fs::path elsewhere = root_ / "elsewhere";
  fs::rename(file, elsewhere);
  fs::create_symlink(elsewhere, file);
  EXPECT_FALSE(cache.find("kernels", "key")) << "a link may lead anywhere";
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(cache.find("kernels", "key")) << "and a pipe must not block";
  if (geteuid() == 0) {
    fs::remove(file);
    fs::rename(elsewhere, file);
    ASSERT_EQ(chown(file.c_str(), 12345, 12345), 0);
    EXPECT_FALSE(cache.find("kernels", "key")) << "a file of another user";
  }
}

TEST_F(UserCacheTest, FoldersThatCannotBeWrittenCostNothingElse) {
  write(root_ / "deep", "a file where the folder should be");
  const UserCache cache(folder());
  cache.store("kernels", "key", "value");
  EXPECT_FALSE(cache.find("kernels", "key"));
  const UserCache impossible("/proc/nothing/here"), off("");
  impossible.store("kernels", "key", "value");
  off.store("kernels", "key", "value");
  EXPECT_FALSE(impossible.find("kernels", "key"));
  EXPECT_FALSE(off.find("kernels", "key"));
  EXPECT_FALSE(off.enabled());
}

TEST_F(UserCacheTest, WritersDoNotDisturbEachOther) {
  const UserCache cache(folder());
  constexpr int kThreads = 8, kKeys = 5, kRounds = 40;
  const auto value_of = [](int key, int thread) {
    return std::string(1000 + 100 * key, static_cast<char>(thread));
  };
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        const int key = (i + t) % kKeys;
        cache.store("kernels", std::to_string(key), value_of(key, t));
        const auto found = cache.find("kernels", std::to_string(key));
        // Another writer may have removed it for a moment, but no mixture is ever seen.
        if (found && (*found != value_of(key, static_cast<int>((*found)[0])))) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  for (int key = 0; key < kKeys; ++key) EXPECT_TRUE(cache.find("kernels", std::to_string(key)));
}

TEST_F(UserCacheTest, OldFilesGo) {
  const UserCache cache(folder());
  cache.store("kernels", "key", "value");
  const fs::path kernels = fs::path(folder()) / "kernels";
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1000);
  for (std::size_t i = 0; i < UserCache::kMaxFiles; ++i) {
    const fs::path file = kernels / ("old" + std::to_string(i) + ".bin");
    write(file, "x");
    fs::last_write_time(file, old + std::chrono::seconds(i));
  }
  write(kernels / "not of the cache", "x");
  for (int i = 0; i < 256; ++i) cache.store("wisdom", std::to_string(i % 4), "value");  // prunes now and then
  std::size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder())) files += entry.is_regular_file();
  EXPECT_LE(files, UserCache::kMaxFiles);
  EXPECT_FALSE(fs::exists(kernels / "old0.bin"));
  EXPECT_TRUE(fs::exists(kernels / ("old" + std::to_string(UserCache::kMaxFiles - 1) + ".bin")));
  EXPECT_TRUE(fs::exists(kernels / "not of the cache"));
  EXPECT_EQ(cache.find("kernels", "key"), "value");
}

TEST_F(UserCacheTest, TheGlobalOneCanBeMoved) {
  const std::string before = UserCache::global()->folder();
  UserCache::set_global(folder());
  EXPECT_EQ(UserCache::global()->folder(), folder());
  UserCache::set_global("");
  EXPECT_FALSE(UserCache::global()->enabled());
  UserCache::set_global(before);
}

}  // namespace
}  // namespace user_cache_test
