// SPDX-License-Identifier: Apache-2.0
// Reads another source, skips frames before their samples are made, and crops regions.
#include "video/sources/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sfft/error.hpp"

namespace sfft::video {

namespace {

/// Rounding shifts the times of frames at equal intervals. Within this tolerance a frame still has the
/// selected time.
constexpr double kTimeTolerance = 1e-6;

void check_region(const Region& region, std::int64_t width, std::int64_t height) {
  if (region.x + region.width <= width && region.y + region.height <= height) return;
  throw Error(ErrorCode::invalid_argument,
              fmt::format("the region {},{},{},{} goes beyond the frames, which are {}x{}", region.x,
                          region.y, region.width, region.height, width, height));
}

void check(const Selection& selection) {
  const auto refuse = [](const char* why) { throw Error(ErrorCode::invalid_argument, why); };
  if (selection.start_seconds >= selection.end_seconds || selection.start_frame >= selection.end_frame)
    refuse("the end of the frames to read is not after their start");
  if (!selection.roi) return;
  const Region& roi = *selection.roi;
  constexpr std::int64_t kMax = std::int64_t{1} << 32;
  if (roi.x < 0 || roi.y < 0 || roi.width < 1 || roi.height < 1 ||
      std::max({roi.x, roi.y, roi.width, roi.height}) > kMax)
    refuse("a region is X,Y,WIDTH,HEIGHT in pixels, its sides at least 1");
}

class SelectedSource final : public FrameSource {
 public:
  SelectedSource(std::unique_ptr<FrameSource> source, const Selection& selection)
      : source_(std::move(source)), selection_(selection), info_(source_->info()) {
    if (selection_.roi) {
      roi_ = *selection_.roi;
      if (info_.width > 0 && info_.height > 0) check_region(roi_, info_.width, info_.height);
      info_.width = roi_.width;
      info_.height = roi_.height;
      if (roi_.y % 2 != 0 && info_.fields != Fields::none)
        info_.fields = info_.fields == Fields::top_first ? Fields::bottom_first : Fields::top_first;
    }
    expect_frames();
    // Frame numbers count from the input's first frame, so a selection by number cannot seek.
    const bool counted = selection_.start_frame > 0 || selection_.end_frame != Selection{}.end_frame;
    if (selection_.start_seconds > 0 && !counted) source_->seek(selection_.start_seconds);
  }

  const SourceInfo& info() const noexcept override { return info_; }
  bool live() const noexcept override { return source_->live(); }
  bool may_be_recorded() const noexcept override { return source_->may_be_recorded(); }
  void interrupt() noexcept override { source_->interrupt(); }
  std::vector<std::string> warnings() const override { return source_->warnings(); }

  /// Renumbers frames by their positions in the selection.
  SourceLog log() const override {
    SourceLog log = source_->log();
    const auto taken = [this](std::int64_t frame) {
      return std::max<std::int64_t>(0, frame - first_ + selection_.every - 1) / selection_.every;
    };
    for (Gap& gap : log.gaps) gap.frame = taken(gap.frame);
    for (FormatChange& change : log.changes) change.frame = taken(change.frame);
    return log;
  }

  bool advance(Frame& frame) override {
    gap_ = 0;
    while (at_ < selection_.end_frame && source_->advance(frame)) {
      if (at_ == 0) info_.begin = source_->info().begin;
      const std::int64_t index = at_++;
      gap_ = std::max(gap_, frame.gap_seconds);
      check_times(frame);
      if (frame.seconds >= selection_.end_seconds - kTimeTolerance) return false;
      if (index < selection_.start_frame || frame.seconds < selection_.start_seconds - kTimeTolerance)
        continue;
      if (after_start_ == 0) first_ = index;
      if (after_start_++ % selection_.every != 0) continue;
      frame.gap_seconds = gap_;
      return true;
    }
    if (after_start_ == 0 && at_ > 0)
      throw InputError(fmt::format("'{}' ends before the requested start", info_.path));
    return false;
  }

  void load(Frame& frame) override {
    source_->load(frame);
    frame.gap_seconds = gap_;
    if (selection_.roi) cut(frame);
  }

  std::unique_ptr<UnmadeSamples> load_later() override {
    return selection_.roi ? nullptr : source_->load_later();
  }

  bool on_gpu() const noexcept override { return source_->on_gpu() && !selection_.roi; }
  bool load_on_gpu(Frame& frame, const DevicePictures& pictures, std::size_t offset) override {
    return on_gpu() && source_->load_on_gpu(frame, pictures, offset);
  }

 private:
  void check_times(const Frame& frame) const {
    if (!std::isnan(frame.seconds) || (selection_.start_seconds <= 0 && std::isinf(selection_.end_seconds)))
      return;
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("the frames of '{}' have no times: give the start and the end as frames, like 250f",
                    info_.path));
  }

  void expect_frames() {
    const double rate = info_.fps;
    if (info_.fps > 0) info_.fps /= static_cast<double>(selection_.every);
    info_.capture_fps /= static_cast<double>(selection_.every);
    if (info_.frames_expected < 0) return;
    std::int64_t first = selection_.start_frame;
    std::int64_t end = std::min(info_.frames_expected, selection_.end_frame);
    if (rate > 0) {
      first = std::max(first, static_cast<std::int64_t>(std::ceil(selection_.start_seconds * rate)));
      if (selection_.end_seconds * rate < static_cast<double>(end))
        end = static_cast<std::int64_t>(std::ceil(selection_.end_seconds * rate));
    }
    info_.frames_expected =
        (std::max<std::int64_t>(0, end - first) + selection_.every - 1) / selection_.every;
  }

  /// If pictures change size, the region scales with them and shows the same part of the scene.
  void follow(const Frame& frame) {
    if (segment_ < 0) {
      first_width_ = frame.width;
      first_height_ = frame.height;
    }
    segment_ = frame.segment;
    const Region& first = *selection_.roi;
    const auto scaled = [](std::int64_t at, std::int64_t now, std::int64_t before) {
      return static_cast<std::int64_t>(
          std::llround(static_cast<double>(at) * static_cast<double>(now) / static_cast<double>(before)));
    };
    const auto x = [&](std::int64_t at) { return scaled(at, frame.width, first_width_); };
    const auto y = [&](std::int64_t at) { return scaled(at, frame.height, first_height_); };
    roi_ = {x(first.x), y(first.y), std::max<std::int64_t>(1, x(first.x + first.width) - x(first.x)),
            std::max<std::int64_t>(1, y(first.y + first.height) - y(first.y))};
    roi_.x = std::min(roi_.x, frame.width - roi_.width);
    roi_.y = std::min(roi_.y, frame.height - roi_.height);
  }

  /// Works in place, because rows only move towards the beginning.
  void cut(Frame& frame) {
    if (segment_ < 0) check_region(*selection_.roi, frame.width, frame.height);
    if (segment_ != frame.segment) follow(frame);
    const Region& roi = roi_;
    const std::int64_t sample = frame.bit_depth16 ? 2 : 1;
    std::byte* const samples = frame.samples.data();
    for (std::int64_t row = 0; row < roi.height; ++row) {
      std::memmove(samples + row * roi.width * sample,
                   samples + ((roi.y + row) * frame.width + roi.x) * sample,
                   static_cast<std::size_t>(roi.width * sample));
    }
    frame.samples.resize(static_cast<std::size_t>(roi.width * roi.height * sample));
    frame.width = roi.width;
    frame.height = roi.height;
  }

  std::unique_ptr<FrameSource> source_;
  Selection selection_;
  SourceInfo info_;
  Region roi_;
  std::int64_t segment_ = -1;  ///< Frame::segment of the region; -1: no frame yet
  std::int64_t first_width_ = 0, first_height_ = 0;
  std::int64_t at_ = 0;           ///< frames delivered by the source
  std::int64_t after_start_ = 0;  ///< frames since the start of the selection
  std::int64_t first_ = 0;        ///< number of the first of these frames
  double gap_ = 0;                ///< longest gap before the frame found by advance()
};

}  // namespace

std::unique_ptr<FrameSource> select_frames(std::unique_ptr<FrameSource> source, const Selection& selection) {
  check(selection);
  return std::make_unique<SelectedSource>(std::move(source), selection);
}

}  // namespace sfft::video
