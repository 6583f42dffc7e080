// SPDX-License-Identifier: Apache-2.0
// Opens the file for appending, under a lock that ends with the process.
#include "video/shards/shard_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "sfft/error.hpp"

namespace sfft::video {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot_write(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::file_unreadable, fmt::format("'{}' cannot be written: {}", path, why));
}

/// Locks the whole file. Returns false if another process has locked it. Always succeeds on file systems
/// without locks.
bool lock_whole(int file) {
#ifdef F_OFD_SETLK
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return ::fcntl(file, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
#else
  return true;
#endif
}

std::string read_all(int file, const std::string& path) {
  std::string text;
  char part[std::size_t{1} << 16];
  for (;;) {
    const ssize_t count = ::read(file, part, sizeof part);
    if (count == 0) return text;
    if (count > 0) text.append(part, static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR)
      throw Error(ErrorCode::file_unreadable,
                  fmt::format("'{}' cannot be read: {}", path, std::strerror(errno)));
  }
}

/// Throws before work begins if the folder has shards of a run with a different number of shards.
void refuse_other_runs(const std::string& folder, Shard shard) {
  const std::string suffix = fmt::format("-of-{}.jsonl", shard.count);
  for (const std::string& path : list_shards(folder)) {
    if (!std::string_view(path).ends_with(suffix))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("'{}' is of a run with another number of shards than {}: give another folder, "
                              "or remove the files of that run",
                              path, shard.count));
  }
}

}  // namespace

std::vector<std::string> list_shards(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code code;
  fs::directory_iterator entry(folder, code);
  for (; !code && entry != fs::directory_iterator(); entry.increment(code))
    if (is_shard_file_name(entry->path().filename().string())) paths.push_back(entry->path().string());
  if (code)
    throw Error(ErrorCode::file_unreadable,
                fmt::format("the folder '{}' cannot be listed: {}", folder, code.message()));
  std::sort(paths.begin(), paths.end());
  return paths;
}

ShardFile::ShardFile(const std::string& folder, const ShardRun& run)
    : path_((fs::path(folder) / shard_file_name(run.shard)).string()) {
  std::error_code code;
  fs::create_directories(folder, code);  // another shard may create it concurrently
  if (!fs::is_directory(folder)) cannot_write(folder, code ? code.message() : "it is no folder");
  refuse_other_runs(folder, run.shard);
  file_ = detail::Descriptor(::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC, 0666));
  if (!file_) cannot_write(path_, std::strerror(errno));
  if (!fs::is_regular_file(path_, code)) cannot_write(path_, "it is no regular file");
  if (!lock_whole(file_.get()))
    cannot_write(path_, "another process is at work on this shard: each shard is started once");
  const ShardContents before = parse_shard_lines(read_all(file_.get(), path_), path_);
  if (before.headed) {
    const std::string difference = run.difference(before.run);
    if (!difference.empty() || before.run.shard != run.shard)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("'{}' is of another run: {}. Give another folder, or remove the files of that "
                              "run",
                              path_, difference.empty() ? "it is another shard" : difference));
  }
  if (before.cut && ::ftruncate(file_.get(), static_cast<off_t>(before.whole_bytes)) != 0)
    cannot_write(path_, std::strerror(errno));
  for (const ShardRecord& record : before.records) remember(record);
  if (!before.headed) append(shard_head_line(run));
}

const ShardRecord* ShardFile::finished(std::size_t input, const std::string& stamp) const {
  const auto found = known_.find(input);
  const bool good = found != known_.end() && found->second.code == 0 &&
                    found->second.status == RunStatus::complete && found->second.stamp == stamp;
  return good ? &found->second : nullptr;
}

void ShardFile::add(const ShardRecord& record) {
  append(shard_record_line(record));
  remember(record);
}

void ShardFile::remember(const ShardRecord& record) {
  ShardRecord& known = known_[record.input] = record;
  known.report = {};  // the report is in the file
}

void ShardFile::append(const std::string& line) {
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t count = ::write(file_.get(), line.data() + at, line.size() - at);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) cannot_write(path_, count < 0 ? std::strerror(errno) : "nothing was taken");
    at += static_cast<std::size_t>(count);
  }
  // Some network file systems have no sync, but they have accepted the line.
  if (::fdatasync(file_.get()) != 0 && errno != EINVAL && errno != ENOTSUP)
    cannot_write(path_, std::strerror(errno));
}

}  // namespace sfft::video
