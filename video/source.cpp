#include "video/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "video/standard_input.hpp"
#include "video/y4m_source.hpp"
#if SFFT_HAVE_OPENCV
#include "video/opencv_source.hpp"
#endif

namespace sfft::video {

SignalView Frame::view() const {
  return {samples.data(), static_cast<std::size_t>(width * height),
          bit_depth16 ? ElementType::u16 : ElementType::u8, Shape{height, width}};
}

bool has_opencv() noexcept {
  return SFFT_HAVE_OPENCV != 0;
}

namespace {

bool all_digits(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// A path that must exist as a file with something in it.
void check_file(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status)) throw InputError(fmt::format("'{}' does not exist", path));
  if (std::filesystem::is_regular_file(status) && std::filesystem::file_size(path, code) == 0) {
    throw InputError(fmt::format("'{}' is empty (zero bytes)", path));
  }
}

}  // namespace

std::unique_ptr<FrameSource> open_source(const std::string& input, const SourceOptions& options) {
  if (input == "-") return open_standard_input();
  const bool url = input.find("://") != std::string::npos;
  const bool pattern = !url && input.find('%') != std::string::npos;
  const bool directory = !url && std::filesystem::is_directory(input);
  if (!url && !pattern && !directory && !all_digits(input)) check_file(input);
  if (!url && !directory && input.ends_with(".y4m")) return open_y4m_file(input);
#if SFFT_HAVE_OPENCV
  if (directory || pattern) return open_images(input);
  if (all_digits(input) && !std::filesystem::exists(input)) return open_camera(std::stoi(input.substr(0, 6)));
  return open_recording(input, options);
#else
  static_cast<void>(options);
  throw InputError(
      fmt::format("'{}': this build has no OpenCV and reads only YUV4MPEG2: pipe it in with  ffmpeg -i {} -f "
                  "yuv4mpegpipe "
                  "-strict -1 -pix_fmt gray - | sfft-video run -",
                  input, input));
#endif
}

}  // namespace sfft::video
