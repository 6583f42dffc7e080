// SPDX-License-Identifier: Apache-2.0
// A file's name is the hash of its key. The key inside decides, so that two keys with the same hash only
// replace each other.
#include "kernels/runtime/user_cache.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <vector>

#include "kernels/runtime/output_file.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "sfft cache 1\n";

/// What a file begins with, after kMagic.
struct Header {
  std::uint64_t key_bytes = 0, value_bytes = 0, checksum = 0;
};

std::string folder_by_environment() {
  // secure_getenv() finds nothing in programs with more rights than their caller.
  if (const char* named = secure_getenv("SFFT_CACHE"); named != nullptr)
    return std::string_view(named) == "off" ? "" : named;
  const char* const cache = secure_getenv("XDG_CACHE_HOME");
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/sfft";
  const char* const home = secure_getenv("HOME");
  return home != nullptr && *home == '/' ? std::string(home) + "/.cache/sfft" : "";
}

struct Global {
  std::mutex mutex;
  std::shared_ptr<const UserCache> cache;
};
Global& global_cache() {
  static Global& instance = *new Global;  // never destroyed: threads may plan while the process ends
  return instance;
}

/// Reads a regular file of this user that nobody else may write.
std::optional<std::string> read_own_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  std::optional<std::string> text;
  struct stat status {};
  constexpr std::size_t kMost = UserCache::kMaxValueBytes + (std::size_t{1} << 20);
  if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
      (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 && static_cast<std::size_t>(status.st_size) <= kMost) {
    text.emplace(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < text->size()) {
      const ssize_t count = read(file, text->data() + done, text->size() - done);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) break;
      done += static_cast<std::size_t>(count);
    }
    if (done < text->size()) text.reset();
  }
  close(file);
  return text;
}

struct Stored {
  fs::path path;
  std::size_t bytes = 0;
  fs::file_time_type time;
};

/// Removes the oldest files if there are too many; the files that writers are preparing are theirs.
void prune(const std::string& folder) {
  std::error_code code;
  std::vector<Stored> all;
  std::size_t bytes = 0;
  for (fs::recursive_directory_iterator it(folder, code), end; !code && it != end; it.increment(code)) {
    if (it.depth() != 1 || it->path().extension() != ".bin") continue;
    std::error_code ignored;
    if (!it->is_regular_file(ignored) || it->is_symlink(ignored)) continue;
    const auto size = static_cast<std::size_t>(it->file_size(ignored));
    const fs::file_time_type time = it->last_write_time(ignored);
    if (ignored) continue;  // another process has just removed it
    all.push_back({it->path(), size, time});
    bytes += size;
  }
  if (bytes <= UserCache::kMaxBytes && all.size() <= UserCache::kMaxFiles) return;
  std::sort(all.begin(), all.end(), [](const Stored& a, const Stored& b) { return a.time < b.time; });
  std::size_t files = all.size();
  for (const Stored& stored : all) {
    if (bytes <= UserCache::kMaxBytes * 3 / 4 && files <= UserCache::kMaxFiles * 3 / 4) return;
    fs::remove(stored.path, code);
    bytes -= std::min(bytes, stored.bytes);
    --files;
  }
}

}  // namespace

std::uint64_t hash_of(std::string_view bytes) noexcept {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return hash;
}

std::shared_ptr<const UserCache> UserCache::global() {
  Global& global = global_cache();
  const std::lock_guard lock(global.mutex);
  if (global.cache == nullptr) global.cache = std::make_shared<const UserCache>(folder_by_environment());
  return global.cache;
}

void UserCache::set_global(const std::string& folder) {
  auto cache = std::make_shared<const UserCache>(folder);
  Global& global = global_cache();
  const std::lock_guard lock(global.mutex);
  global.cache = std::move(cache);
}

std::string UserCache::path_of(std::string_view kind, std::string_view key) const {
  return fmt::format("{}/{}/{:016x}.bin", folder_, kind, hash_of(key));
}

std::optional<std::string> UserCache::find(std::string_view kind, std::string_view key) const {
  if (!enabled()) return std::nullopt;
  std::optional<std::string> text = read_own_file(path_of(kind, key));
  Header header;
  constexpr std::size_t kHead = kMagic.size() + sizeof(Header);
  if (!text || text->size() < kHead || !text->starts_with(kMagic)) return std::nullopt;
  std::memcpy(&header, text->data() + kMagic.size(), sizeof(header));
  const std::string_view body = std::string_view(*text).substr(kHead);
  if (header.key_bytes != key.size() || body.size() < key.size() ||
      header.value_bytes != body.size() - key.size() || body.substr(0, key.size()) != key ||
      header.checksum != hash_of(body))
    return std::nullopt;
  return text->substr(kHead + key.size());
}

void UserCache::store(std::string_view kind, std::string_view key, std::string_view value) const {
  constexpr unsigned kPruneEvery = 256;
  static std::atomic<unsigned> stores{0};
  if (!enabled() || value.size() > kMaxValueBytes) return;
  try {
    const fs::path parent = fs::path(folder_).parent_path();
    if (!parent.empty()) fs::create_directories(parent);
    for (const fs::path& folder : {fs::path(folder_), fs::path(folder_) / kind}) {
      if (mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) return;
    }
    const std::string body = std::string(key) + std::string(value);
    const Header header{key.size(), value.size(), hash_of(body)};
    std::string text(kMagic);
    text.append(reinterpret_cast<const char*>(&header), sizeof(header));
    const std::string path = path_of(kind, key);
    static_cast<void>(unlink(path.c_str()));  // whose it was, and its mode, shall not stay
    write_whole(path, text + body, false);
    static_cast<void>(chmod(path.c_str(), S_IRUSR | S_IWUSR));
    if (stores++ % kPruneEvery == 0) prune(folder_);
  } catch (const fs::filesystem_error&) {
  } catch (const Error&) {  // a full disk, a folder without the right to write
  }
}

}  // namespace sfft::detail
