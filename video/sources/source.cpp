// SPDX-License-Identifier: Apache-2.0
// Classifies the input string: standard input, URL, directory, pattern, camera or file. Checks that a file
// exists and is not empty, and opens the reader that this build has for the input.
#include "video/sources/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <string_view>

#include "video/sources/image_list.hpp"
#include "video/sources/y4m_source.hpp"
#if SFFT_HAVE_OPENCV
#include "video/sources/opencv_module.hpp"
#endif
#if SFFT_HAVE_LIBAV
#include "video/sources/libav_source.hpp"
#endif

namespace sfft::video {

SignalView Frame::view() const {
  return {samples.data(), static_cast<std::size_t>(width * height),
          bit_depth16 ? ElementType::u16 : ElementType::u8, Shape{height, width}};
}

const char* to_string(TimeSource source) noexcept {
  switch (source) {
    case TimeSource::stamps:
      return "stamps";
    case TimeSource::arrival:
      return "arrival";
    case TimeSource::claimed_rate:
      return "claimed_rate";
    default:
      return "none";
  }
}

bool has_opencv() noexcept {
  return SFFT_HAVE_OPENCV != 0;
}

bool has_libav() noexcept {
  return SFFT_HAVE_LIBAV != 0;
}

namespace {

bool all_digits(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// Throws InputError if a path does not exist, is not accessible, or is an empty file.
void check_file(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (status.type() == std::filesystem::file_type::none)  // too long, a link loop, a directory without access
    throw InputError(fmt::format("'{}' cannot be opened: {}", path, code.message()));
  if (!std::filesystem::exists(status)) throw InputError(fmt::format("'{}' does not exist", path));
  if (std::filesystem::is_regular_file(status) && std::filesystem::file_size(path, code) == 0) {
    throw InputError(fmt::format("'{}' is empty (zero bytes)", path));
  }
}

#if SFFT_HAVE_OPENCV
int camera_number(const std::string& digits) {
  int number = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (code != std::errc()) throw InputError(fmt::format("there is no camera {}", digits));
  return number;
}
#endif

constexpr std::string_view kFile = "file://";

bool is_url(const std::string& input) {
  return input.find("://") != std::string::npos;
}

bool is_directory(const std::string& input) {
  std::error_code code;
  return std::filesystem::is_directory(input, code);
}

/// Whether the input is a number but not a file's name.
bool is_camera(const std::string& input) {
  std::error_code code;
  return all_digits(input) && !std::filesystem::exists(input, code);
}

/// A camera or a sequence of images.
std::unique_ptr<FrameSource> open_pictures(const std::string& input, const SourceOptions& options) {
#if SFFT_HAVE_OPENCV
  if (is_camera(input)) return open_camera(camera_number(input), options);
  return open_images(input);
#else
  static_cast<void>(options);
  throw InputError(
      fmt::format("'{}': this build has no OpenCV, which reads cameras and image sequences", input));
#endif
}

/// A recording, or a stream if `url`.
std::unique_ptr<FrameSource> open_video(const std::string& input, bool url, const SourceOptions& options) {
#if SFFT_HAVE_LIBAV
  std::error_code code;
  if (!url && std::filesystem::is_regular_file(input, code)) return open_recording_file(input, options);
  return open_stream(url ? input : "file:" + input, options);  // a device or a FIFO
#elif SFFT_HAVE_OPENCV
  static_cast<void>(url);
  return open_with_opencv(input, options);
#else
  static_cast<void>(url);
  static_cast<void>(options);
  throw InputError(fmt::format(
      "'{}': this build has neither FFmpeg's libraries nor OpenCV and reads only YUV4MPEG2: pipe it in with  "
      "ffmpeg -i {} -f yuv4mpegpipe -strict -1 -pix_fmt gray - | sfft-video run -",
      input, input));
#endif
}

}  // namespace

WallClock begin_of(const FrameSource& source, const std::string& input) {
  const auto named = source.live() ? std::nullopt : named_time(input);
  return named ? named->clock : source.info().begin;
}

bool may_come_later(const std::string& input) {
  return is_url(input) ? !input.starts_with(kFile) : is_camera(input);
}

std::vector<std::string> input_files(const std::string& input) {
  if (input == "-" || is_camera(input)) return {};
  if (is_url(input)) {
    return input.starts_with(kFile) ? std::vector{input.substr(kFile.size())} : std::vector<std::string>{};
  }
  if (!is_directory(input) && !is_image_pattern(input)) return {input};
  try {
    return list_images(input);
  } catch (const InputError&) {  // opening the input reports why
    return {};
  }
}

namespace {
std::unique_ptr<FrameSource> open_whole(const std::string& input, const SourceOptions& options) {
  if (input == "-") return open_standard_input();
  const bool url = is_url(input) && !input.starts_with(kFile);
  if (!is_url(input) && (is_camera(input) || is_directory(input) || is_image_pattern(input)))
    return open_pictures(input, options);
  const std::string path = input.starts_with(kFile) ? input.substr(kFile.size()) : input;
  if (!url) check_file(path);
  if (!url && path.ends_with(".y4m")) return open_y4m_file(path);
  return open_video(path, url, options);
}
}  // namespace

std::unique_ptr<FrameSource> open_source(const std::string& input, const SourceOptions& options) {
  auto source = open_whole(input, options);
  if (options.selection.all()) return source;
  return select_frames(std::move(source), options.selection);
}

}  // namespace sfft::video
