// SPDX-License-Identifier: Apache-2.0
// The module that uses OpenCV. It decodes with cv::VideoCapture or cv::imread and converts to luma. It reads
// recordings and streams only in builds without FFmpeg's libraries, because OpenCV hides truncation and
// scales frames that change their size.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/videoio.hpp>
#include <vector>

#include "video/sources/image_list.hpp"
#include "video/sources/masked_url.hpp"
#include "video/sources/opencv_module.hpp"
#include "video/sources/reconnection.hpp"
#include "video/sources/recording_end.hpp"

namespace sfft::video {

namespace {

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

SourceInfo info_of(const cv::VideoCapture& capture) {
  SourceInfo info;
  info.width = static_cast<std::int64_t>(capture.get(cv::CAP_PROP_FRAME_WIDTH));
  info.height = static_cast<std::int64_t>(capture.get(cv::CAP_PROP_FRAME_HEIGHT));
  info.fps = capture.get(cv::CAP_PROP_FPS);
  if (!(info.fps > 0) || !std::isfinite(info.fps)) info.fps = 0;
  return info;
}

class CameraCapture final : public Capture {
 public:
  explicit CameraCapture(int index) : index_(index) {
    if (!capture_.open(index)) throw InputError(fmt::format("there is no camera {}, or it is in use", index));
  }
  SourceInfo info() const override { return info_of(capture_); }
  bool read(Frame& frame) override {
    if (!capture_.read(image_) || image_.empty()) return false;
    to_frame(image_, frame, fmt::format("camera {}", index_));
    return true;
  }

 private:
  int index_;
  cv::VideoCapture capture_;
  cv::Mat image_;
};

/// A network stream or a device. Frame times are arrival times.
class CaptureSource : public FrameSource {
 public:
  CaptureSource(cv::VideoCapture capture, const std::string& name) : capture_(std::move(capture)) {
    info_ = info_of(capture_);
    info_.path = name;
  }
  const SourceInfo& info() const noexcept override { return info_; }
  bool live() const noexcept override { return true; }

  bool next(Frame& frame) override {
    if (!capture_.read(image_) || image_.empty()) {
      if (count_ == 0)
        throw InputError(fmt::format("'{}' opened but not a single frame can be decoded", info_.path));
      return false;
    }
    const auto now = Clock::now();
    if (count_ == 0) first_ = now;
    to_frame(image_, frame, info_.path);
    frame.seconds = std::chrono::duration<double>(now - first_).count();
    ++count_;
    return true;
  }

 protected:
  cv::VideoCapture capture_;
  SourceInfo info_;
  std::int64_t count_ = 0;

 private:
  using Clock = std::chrono::steady_clock;
  cv::Mat image_;
  Clock::time_point first_;
};

/// A file, whose container states its size and length.
class RecordingSource final : public CaptureSource {
 public:
  RecordingSource(cv::VideoCapture capture, const std::string& path)
      : CaptureSource(std::move(capture), path) {
    const double frames = capture_.get(cv::CAP_PROP_FRAME_COUNT);
    if (frames > 0 && frames < 1e15) info_.frames_expected = static_cast<std::int64_t>(frames);
  }

  bool live() const noexcept override { return false; }

  bool next(Frame& frame) override {
    if (!CaptureSource::next(frame)) {
      check_end();
      return false;
    }
    const double milliseconds = capture_.get(cv::CAP_PROP_POS_MSEC);
    if (count_ == 1) first_milliseconds_ = milliseconds;
    frame.seconds = last_seconds_ = (milliseconds - first_milliseconds_) / 1000;
    return true;
  }

  std::vector<std::string> warnings() const override { return warnings_; }
  SourceLog log() const override {
    SourceLog log;
    log.timing = {count_ > 0 ? TimeSource::stamps : TimeSource::none, info_.fps, 0};
    if (last_seconds_ > 0) log.timing.measured_fps = static_cast<double>(count_ - 1) / last_seconds_;
    return log;
  }

 private:
  void check_end() {
    const std::string warning = check_recording_end({.path = info_.path,
                                                     .frames = count_,
                                                     .frames_expected = info_.frames_expected,
                                                     .frame_rate = info_.fps,
                                                     .last_seconds = last_seconds_});
    if (!warning.empty()) warnings_.push_back(warning);
  }

  double first_milliseconds_ = 0, last_seconds_ = 0;
  std::vector<std::string> warnings_;
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

std::unique_ptr<FrameSource> read_images(const std::string& pattern_or_directory) {
  quieten();
  return std::make_unique<ImageSource>(pattern_or_directory);
}

std::unique_ptr<FrameSource> read_camera(int index, const SourceOptions& options) {
  quieten();
  return watch_camera(fmt::format("camera {}", index), options,
                      [index] { return std::make_unique<CameraCapture>(index); });
}

std::unique_ptr<FrameSource> read_recording(const std::string& path_or_url, const SourceOptions& options) {
  quieten();
  // FFmpeg writes to standard error by default (-8: AV_LOG_QUIET).
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
                                       masked_url(path_or_url), options.timeout_seconds)
                         : fmt::format("'{}' is not a recording that can be decoded", path_or_url));
  }
  std::error_code code;
  if (!url && std::filesystem::is_regular_file(path_or_url, code))
    return std::make_unique<RecordingSource>(std::move(capture), path_or_url);
  return std::make_unique<CaptureSource>(std::move(capture), masked_url(path_or_url));
}

}  // namespace

}  // namespace sfft::video

extern "C" {
__attribute__((visibility("default"))) extern const sfft::video::OpencvReaders sfft_opencv_readers;
const sfft::video::OpencvReaders sfft_opencv_readers{&sfft::video::read_images, &sfft::video::read_camera,
                                                     &sfft::video::read_recording};
}
