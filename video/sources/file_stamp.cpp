// SPDX-License-Identifier: Apache-2.0
// Queries only the file system: no file is opened.
#include "video/sources/file_stamp.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "video/sources/source.hpp"

namespace sfft::video {

std::string file_stamp(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  return fmt::format("{} {}.{:09}", status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

std::string input_stamp(const std::string& input) {
  const std::vector<std::string> files = input_files(input);
  if (files.size() == 1) return file_stamp(files.front());
  std::int64_t bytes = 0;
  std::pair<std::int64_t, std::int64_t> latest{0, 0};
  for (const std::string& file : files) {
    struct stat status {};
    if (::stat(file.c_str(), &status) != 0) return {};
    bytes += status.st_size;
    latest = std::max(latest, {status.st_mtim.tv_sec, status.st_mtim.tv_nsec});
  }
  return files.empty()
             ? std::string()
             : fmt::format("{} files {} {}.{:09}", files.size(), bytes, latest.first, latest.second);
}

}  // namespace sfft::video
