// SPDX-License-Identifier: Apache-2.0
// Time without frames counts from the last frame, whether or not the input could be opened in between.
#include "video/sources/reconnection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "video/sources/format_watch.hpp"

namespace sfft::video {

namespace {
constexpr double kFirstPause = 0.25, kLongestPause = 15;  // seconds
constexpr std::size_t kMaxGaps = 10000;
}  // namespace

Reconnection::Reconnection(std::string path, const SourceOptions& options,
                           const std::atomic<bool>& interrupted)
    : path_(std::move(path)),
      for_seconds_(options.reconnect_seconds),
      stop_(options.stop),
      interrupted_(interrupted) {}

void Reconnection::lose(const std::string& reason, bool in_order, double seconds) {
  if (lost_) return;
  lost_.emplace();
  lost_->start_seconds = seconds;
  lost_->reason = reason;
  in_order_ = in_order;
  pause_ = kFirstPause;
}

bool Reconnection::again(std::int64_t count, const std::function<void()>& open) {
  if (count == 0 && lost_->attempts == 0) last_arrival_ = Clock::now();
  while (!stopped()) {
    const double left = for_seconds_ - silent();
    if (!(left > 0)) return give_up(count);
    wait(std::min(pause_, left));
    pause_ = std::min(2 * pause_, kLongestPause);
    if (stopped()) break;
    ++lost_->attempts;
    try {
      open();
      return true;
    } catch (const InputError&) {  // it is not back yet
    }
  }
  return false;
}

double Reconnection::arrive(std::int64_t number) {
  double gap = 0;
  if (lost_) {
    gap = lost_->seconds = silent();
    lost_->frame = number;
    note(*lost_);
    lost_.reset();
  }
  last_arrival_ = Clock::now();
  return gap;
}

void Reconnection::note(Gap gap) {
  if (gaps_.size() == kMaxGaps) gaps_.erase(gaps_.begin());
  gaps_.push_back(std::move(gap));
}

bool Reconnection::give_up(std::int64_t count) {
  lost_->seconds = silent();
  lost_->frame = count;
  note(*lost_);
  if (count == 0) throw InputError(fmt::format("'{}' opened but not a single frame can be decoded", path_));
  std::string text = fmt::format("'{}' was lost after frame {} ({})", path_, count, lost_->reason);
  if (for_seconds_ > 0) text += fmt::format(" and did not come back within {:g} s", for_seconds_);
  if (!in_order_) throw InputError(text);
  warning_ = text + ".";
  return false;
}

void Reconnection::wait(double seconds) const {
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  while (!stopped() && Clock::now() < until) std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

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
