// SPDX-License-Identifier: Apache-2.0
#include "video/opencv_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#include <vector>

#include "video/image_list.hpp"

namespace sfft::video {

namespace {

/// Containers estimate their frame count from duration and rate; so many frames less is no damage.
std::int64_t tolerated_shortfall(std::int64_t expected) {
  return std::max<std::int64_t>(2, expected / 200);
}

void quieten() {
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
}

/// Luma of an 8- or 16-bit image of 1, 3 or 4 channels.
void to_frame(const cv::Mat& image, Frame& frame, const std::string& name) {
  if (image.depth() != CV_8U && image.depth() != CV_16U) {
    throw InputError(fmt::format("{}: samples are neither 8- nor 16-bit integers", name));
  }
  cv::Mat grey = image;
  if (image.channels() == 3) cv::cvtColor(image, grey, cv::COLOR_BGR2GRAY);
  if (image.channels() == 4) cv::cvtColor(image, grey, cv::COLOR_BGRA2GRAY);
  if (grey.channels() != 1)
    throw InputError(fmt::format("{}: {} channels are not supported", name, image.channels()));
  frame.width = grey.cols;
  frame.height = grey.rows;
  frame.bit_depth16 = grey.depth() == CV_16U;
  const std::size_t row_bytes = grey.elemSize() * static_cast<std::size_t>(grey.cols);
  frame.samples.resize(row_bytes * static_cast<std::size_t>(grey.rows));
  for (int row = 0; row < grey.rows; ++row) {
    std::memcpy(frame.samples.data() + static_cast<std::size_t>(row) * row_bytes, grey.ptr(row), row_bytes);
  }
}

class CaptureSource final : public FrameSource {
 public:
  CaptureSource(cv::VideoCapture capture, const std::string& name, bool counted)
      : capture_(std::move(capture)) {
    info_.path = name;
    info_.width = static_cast<std::int64_t>(capture_.get(cv::CAP_PROP_FRAME_WIDTH));
    info_.height = static_cast<std::int64_t>(capture_.get(cv::CAP_PROP_FRAME_HEIGHT));
    info_.fps = capture_.get(cv::CAP_PROP_FPS);
    if (!(info_.fps > 0) || !std::isfinite(info_.fps)) info_.fps = 0;
    const double frames = capture_.get(cv::CAP_PROP_FRAME_COUNT);
    if (counted && frames > 0 && frames < 1e15) info_.frames_expected = static_cast<std::int64_t>(frames);
  }
  const SourceInfo& info() const noexcept override { return info_; }

  bool next(Frame& frame) override {
    if (!capture_.read(image_) || image_.empty()) {
      const std::int64_t missing = info_.frames_expected - count_;
      if (info_.frames_expected > 0 && missing > tolerated_shortfall(info_.frames_expected)) {
        throw InputError(
            fmt::format("'{}' promises {} frames but only {} can be read: it is truncated or damaged",
                        info_.path, info_.frames_expected, count_));
      }
      if (count_ == 0)
        throw InputError(fmt::format("'{}' opened but not a single frame can be decoded", info_.path));
      return false;
    }
    to_frame(image_, frame, info_.path);
    ++count_;
    return true;
  }

 private:
  cv::VideoCapture capture_;
  cv::Mat image_;
  SourceInfo info_;
  std::int64_t count_ = 0;
};

class ImageSource final : public FrameSource {
 public:
  explicit ImageSource(const std::string& input) : paths_(list_images(input)) {
    info_.path = input;
    info_.frames_expected = static_cast<std::int64_t>(paths_.size());
    Frame first;
    decode(paths_.front(), first);
    info_.width = first.width;
    info_.height = first.height;
  }
  const SourceInfo& info() const noexcept override { return info_; }
  bool next(Frame& frame) override {
    if (at_ == paths_.size()) return false;
    decode(paths_[at_++], frame);
    return true;
  }

 private:
  static void decode(const std::string& path, Frame& frame) {
    const cv::Mat image = cv::imread(path, cv::IMREAD_UNCHANGED);
    if (image.empty()) throw InputError(fmt::format("image '{}' cannot be decoded", path));
    to_frame(image, frame, path);
  }
  std::vector<std::string> paths_;
  std::size_t at_ = 0;
  SourceInfo info_;
};

}  // namespace

std::unique_ptr<FrameSource> open_images(const std::string& pattern_or_directory) {
  quieten();
  return std::make_unique<ImageSource>(pattern_or_directory);
}

std::unique_ptr<FrameSource> open_camera(int index) {
  quieten();
  cv::VideoCapture capture;
  if (!capture.open(index)) throw InputError(fmt::format("there is no camera {}, or it is in use", index));
  return std::make_unique<CaptureSource>(std::move(capture), fmt::format("camera {}", index), false);
}

std::unique_ptr<FrameSource> open_recording(const std::string& path_or_url, const SourceOptions& options) {
  quieten();
  // FFmpeg's own messages go to standard error unless told otherwise (-8: AV_LOG_QUIET).
  setenv("OPENCV_FFMPEG_LOGLEVEL", "-8", 0);
  const bool url = path_or_url.find("://") != std::string::npos;
  const int milliseconds = 1000 * options.timeout_seconds;
  cv::VideoCapture capture;
  const bool opened = capture.open(
      path_or_url, cv::CAP_FFMPEG,
      {cv::CAP_PROP_OPEN_TIMEOUT_MSEC, milliseconds, cv::CAP_PROP_READ_TIMEOUT_MSEC, milliseconds});
  if (!opened) {
    throw InputError(url ? fmt::format("'{}' cannot be opened (gave up after at most {} s): check the "
                                       "address and that the server runs",
                                       path_or_url, options.timeout_seconds)
                         : fmt::format("'{}' is not a recording that can be decoded", path_or_url));
  }
  return std::make_unique<CaptureSource>(std::move(capture), path_or_url, !url);
}

}  // namespace sfft::video
