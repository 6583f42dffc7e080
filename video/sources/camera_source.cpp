// SPDX-License-Identifier: Apache-2.0
// Frame times come from this machine's clock, so they continue to run while the camera is away.
#include "video/sources/camera_source.hpp"

#include <chrono>
#include <utility>

#include "video/sources/format_watch.hpp"
#include "video/sources/reconnection.hpp"

namespace sfft::video {

namespace {

class CameraSource final : public FrameSource {
 public:
  CameraSource(const std::string& name, const SourceOptions& options, OpenCapture open)
      : open_(std::move(open)), connection_(name, options, interrupted_), capture_(open_()) {
    info_ = capture_->info();
    info_.path = name;
  }

  const SourceInfo& info() const noexcept override { return info_; }
  bool live() const noexcept override { return true; }
  void interrupt() noexcept override { interrupted_ = true; }

  std::vector<std::string> warnings() const override {
    std::vector<std::string> warnings;
    formats_.warn(warnings);
    return warnings;
  }

  SourceLog log() const override {
    SourceLog log;
    log.gaps = connection_.gaps();
    log.changes = formats_.changes();
    log.timing = {count_ > 0 ? TimeSource::arrival : TimeSource::none, info_.fps, 0};
    double watched = seconds_;
    for (const Gap& gap : log.gaps) watched -= gap.seconds;
    const auto intervals = count_ - 1 - static_cast<std::int64_t>(log.gaps.size());
    if (intervals > 0 && watched > 0) log.timing.measured_fps = static_cast<double>(intervals) / watched;
    return log;
  }

  bool next(Frame& frame) override {
    const auto asked = Clock::now();
    while (!connection_.stopped()) {
      if (capture_ && capture_->read(frame)) return take(frame, asked), true;
      if (connection_.stopped()) break;
      connection_.lose("the camera gives no frames", false, seconds_);
      capture_.reset();  // before reopening: the camera serves one program at a time
      if (!connection_.again(count_, [this] { capture_ = open_(); })) break;
      rate_ = capture_->info().fps;
    }
    return false;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void take(Frame& frame, Clock::time_point asked) {
    constexpr double kStall = 2;  // seconds
    const auto now = Clock::now();
    if (count_ == 0) {
      first_ = now;
      info_.begin = present_clock(0);
      rate_ = info_.fps;
      info_.width = frame.width;
      info_.height = frame.height;
    }
    frame.gap_seconds = connection_.arrive(count_);
    const double waited = std::chrono::duration<double>(now - asked).count();
    if (count_ > 0 && frame.gap_seconds == 0 && waited > kStall) {
      frame.gap_seconds = waited;
      connection_.note({count_, seconds_, waited, 0, "no frames came"});
    }
    frame.seconds = seconds_ = std::chrono::duration<double>(now - first_).count();
    formats_.note(
        {frame.width, frame.height, frame.bit_depth16 ? 16 : 8, frame.bit_depth16 ? "gray16" : "gray", rate_},
        count_, frame);
    ++count_;
  }

  OpenCapture open_;
  std::atomic<bool> interrupted_{false};
  Reconnection connection_;
  std::unique_ptr<Capture> capture_;  ///< none while the camera is away
  SourceInfo info_;
  FormatWatch formats_;
  std::int64_t count_ = 0;
  double seconds_ = 0, rate_ = 0;  ///< time of the latest frame; rate of the camera
  Clock::time_point first_;
};

}  // namespace

std::unique_ptr<FrameSource> watch_camera(const std::string& name, const SourceOptions& options,
                                          const OpenCapture& open) {
  return std::make_unique<CameraSource>(name, options, open);
}

}  // namespace sfft::video
