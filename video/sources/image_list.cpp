// SPDX-License-Identifier: Apache-2.0
// Lists a directory's images in natural order, or counts a pattern up from 0 or 1 until a file is missing.
#include "video/sources/image_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>
#include <optional>

#include "video/sources/source.hpp"

namespace sfft::video {

namespace {

namespace fs = std::filesystem;

/// A parsed printf pattern, so that no user-supplied format reaches printf.
struct Pattern {
  std::string before, after;
  int width;  ///< number of digits, padded with zeros

  std::string name(int number) const { return fmt::format("{}{:0{}}{}", before, number, width, after); }
};

std::optional<Pattern> parse_pattern(const std::string& text) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::size_t at = text.find('%');
  if (at == std::string::npos || text.find('%', at + 1) != std::string::npos) return std::nullopt;
  std::size_t end = at + 1;
  if (end < text.size() && text[end] == '0') ++end;
  int width = 1;
  if (end + 1 < text.size() && digit(text[end]) && text[end] != '0') width = text[end++] - '0';
  if (end >= text.size() || text[end] != 'd') return std::nullopt;
  return Pattern{text.substr(0, at), text.substr(end + 1), width};
}

bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      const std::size_t start_i = std::min(a.find_first_not_of('0', i), a.size());
      const std::size_t start_j = std::min(b.find_first_not_of('0', j), b.size());
      std::size_t end_i = start_i;
      std::size_t end_j = start_j;
      while (end_i < a.size() && digit(a[end_i])) ++end_i;
      while (end_j < b.size() && digit(b[end_j])) ++end_j;
      if (end_i - start_i != end_j - start_j) return end_i - start_i < end_j - start_j;
      const int order = a.compare(start_i, end_i - start_i, b, start_j, end_j - start_j);
      if (order != 0) return order < 0;
      i = end_i;
      j = end_j;
    } else {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

using Extensions = std::vector<std::string>;

const Extensions& image_extensions() {
  static const Extensions known{".png", ".jpg", ".jpeg", ".tif",  ".tiff",
                                ".bmp", ".pgm", ".ppm",  ".webp", ".jp2"};
  return known;
}

const Extensions& recording_extensions() {
  static const Extensions known{".mp4", ".m4v",  ".mov", ".mkv", ".webm", ".avi", ".ts",  ".m2ts", ".mts",
                                ".mpg", ".mpeg", ".flv", ".wmv", ".ogv",  ".3gp", ".mxf", ".y4m"};
  return known;
}

/// Files of a directory with one of these extensions, in natural order.
std::vector<std::string> files_of_directory(const std::string& path, const Extensions& extensions) {
  std::vector<std::string> paths;
  std::error_code code;
  fs::directory_iterator entries(path, code);
  for (; !code && entries != fs::directory_iterator(); entries.increment(code)) {
    std::error_code unreadable;  // such an entry is skipped
    std::string extension = entries->path().extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    const bool known = std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
    if (known && entries->is_regular_file(unreadable)) paths.push_back(entries->path().string());
  }
  if (code) throw InputError(fmt::format("directory '{}' cannot be read: {}", path, code.message()));
  std::sort(paths.begin(), paths.end(), natural_less);
  return paths;
}

/// Folders in a directory, in natural order. Links are skipped because they may lead back.
std::vector<std::string> folders_of_directory(const std::string& path) {
  std::vector<std::string> folders;
  std::error_code code;
  fs::directory_iterator entries(path, code);
  for (; !code && entries != fs::directory_iterator(); entries.increment(code)) {
    std::error_code unreadable;  // such an entry is skipped
    if (entries->symlink_status(unreadable).type() == fs::file_type::directory)
      folders.push_back(entries->path().string());
  }
  std::sort(folders.begin(), folders.end(), natural_less);
  return folders;
}

std::vector<std::string> images_of_directory(const std::string& path) {
  std::vector<std::string> paths = files_of_directory(path, image_extensions());
  if (paths.empty() && !files_of_directory(path, recording_extensions()).empty())
    throw InputError(fmt::format("directory '{}' holds recordings and no images: name one of them", path));
  if (paths.empty()) {
    throw InputError(
        fmt::format("directory '{}' holds neither images (png, jpg, tif, bmp, pgm, …) nor recordings", path));
  }
  return paths;
}

}  // namespace

bool is_image_pattern(const std::string& input) {
  std::error_code code;
  return input.find('%') != std::string::npos && !fs::exists(input, code);
}

std::vector<std::string> list_recordings(const std::string& directory) {
  std::error_code code;
  if (!fs::is_directory(directory, code)) return {};
  try {
    if (!files_of_directory(directory, image_extensions()).empty()) return {};
    std::vector<std::string> found = files_of_directory(directory, recording_extensions());
    for (const std::string& folder : folders_of_directory(directory))
      std::ranges::move(list_recordings(folder), std::back_inserter(found));
    return found;
  } catch (const InputError&) {  // opening the input reports why
    return {};
  }
}

std::vector<std::string> list_images(const std::string& input) {
  std::error_code code;
  if (fs::is_directory(input, code)) return images_of_directory(input);
  const auto pattern = parse_pattern(input);
  if (!pattern) {
    throw InputError(
        fmt::format("'{}' is not an image pattern: use one %d or %0Nd, as in frames/%04d.png", input));
  }
  std::vector<std::string> paths;
  for (const int first : {0, 1}) {
    for (int i = first; fs::exists(pattern->name(i), code); ++i) paths.push_back(pattern->name(i));
    if (!paths.empty()) return paths;
  }
  throw InputError(fmt::format("no image matches '{}' (numbering starts at 0 or 1)", input));
}

}  // namespace sfft::video
