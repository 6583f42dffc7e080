// SPDX-License-Identifier: Apache-2.0
// The subcommand video: learning and transforming a recording, against transforming every frame densely.
#include <fmt/format.h>

#include <optional>

#include "commands.hpp"
#include "frame_transform.hpp"
#include "progress.hpp"
#include "run_control.hpp"
#include "sfft/sfft.hpp"
#include "timing.hpp"

namespace sfft::apps {

namespace {

struct FrameTally {
  double preparation = 0, total = 0;
  std::vector<double> warm, cold, errors;
};

/// Whether totals are reported after this many frames: 1, 2, 5, 10, 20, 50 … and the last.
bool is_mark(std::int64_t frames, bool last) {
  std::int64_t decade = 1;
  while (decade * 10 <= frames) decade *= 10;
  return last || frames == decade || frames == 2 * decade || frames == 5 * decade;
}

/// The work of one transform on one frame. `exact`: null for a frame that is not checked.
void transform_frame(FrameTransform& transform, const FrameBuffer& buffer, bool first,
                     const std::vector<std::complex<double>>* exact, FrameTally& tally) {
  constexpr std::size_t kColdFrames = 11;
  transform.load(buffer);
  if (first) {
    tally.preparation = seconds_of([&] { transform.prepare(buffer); });
    if (transform.counts_preparation()) tally.total = tally.preparation;
  }
  tally.warm.push_back(seconds_of([&] { transform.push(buffer); }));
  tally.total += tally.warm.back();
  if (exact != nullptr) tally.errors.push_back(transform.error(*exact));
  if (tally.cold.size() < kColdFrames) {
    transform.make_cold();
    tally.cold.push_back(seconds_of([&] { transform.repeat(buffer); }));
  }
}

Row row_of(const Shape& shape, std::int64_t frames, const FrameTransform& transform,
           const FrameTally& tally) {
  Row row;
  row.figure = "video";
  row.contender = transform.name();
  row.device = transform.device();
  row.shape = shape.to_string() + " real";
  row.points = row.nominal_points = shape.points();
  row.k = transform.k();
  row.frames = frames;
  row.signals = static_cast<std::int64_t>(tally.errors.size());
  row.relative_l2 = median(tally.errors);
  row.worst_l2 = *std::max_element(tally.errors.begin(), tally.errors.end());
  row.samples_read = transform.samples_read();
  row.plan_ms = 1e3 * tally.preparation;
  row.warm_us = 1e6 * median(tally.warm);
  row.cold_us = 1e6 * median(tally.cold);
  row.total_ms = 1e3 * tally.total;
  row.detail = transform.detail();
  return row;
}

std::vector<std::unique_ptr<FrameTransform>> make_transforms(const Shape& shape, const VideoOptions& options,
                                                             const CommonOptions& common) {
  std::vector<std::int64_t> ks = options.k;
  if (ks.empty()) {
    ks = {std::clamp<std::int64_t>(shape.points() / 50, 1, 500),
          std::clamp<std::int64_t>(shape.points() / 25, 1, 1000)};
  }
  std::vector<std::unique_ptr<FrameTransform>> all;
  if (common.cpu()) {
    add_dense_frames(shape, all);
    for (const std::int64_t k : ks) all.push_back(make_tracked_frames(shape, k));
  }
#if SFFT_BENCH_CUDA
  if (common.gpu) add_cuda_frames(shape, ks, all);
#endif
  return all;
}

/// Reads one frame ahead, so that the last one is known as such.
class Frames {
 public:
  Frames(const std::string& input, std::int64_t most, bool loop)
      : input_(input), source_(video::open_source(input)), most_(most), loop_(loop) {
    if (!source_->next(ahead_)) {
      throw video::InputError(fmt::format("'{}' holds no frames", input));
    }
  }
  const video::Frame& next() {
    std::swap(frame_, ahead_);
    try {
      last_ = ++count_ == most_ || !read_ahead();
    } catch (const video::InputError& error) {
      damage_ = error.what();
      last_ = true;
    }
    return frame_;
  }
  const video::Frame& first() const { return ahead_; }
  bool last() const { return last_; }
  /// Throws the error that ended the recording, if it is damaged.
  void check_end() const {
    if (!damage_.empty()) throw video::InputError(damage_);
  }
  std::int64_t count() const { return count_; }
  /// For the progress bar.
  std::int64_t expected() const {
    const std::int64_t said = source_->info().frames_expected;
    return said > 0 && !loop_ ? std::min(said, most_) : most_;
  }

 private:
  bool read_ahead() {
    if (source_->next(ahead_)) return true;
    if (!loop_) return false;
    source_ = video::open_source(input_);
    return source_->next(ahead_);
  }

  std::string input_;
  std::unique_ptr<video::FrameSource> source_;
  std::int64_t most_, count_ = 0;
  bool loop_;
  video::Frame frame_, ahead_;
  std::string damage_;
  bool last_ = false;
};

}  // namespace

void run_video(const VideoOptions& options, const CommonOptions& common, Results& results) {
  const std::int64_t most = options.frames > 0 ? options.frames : common.quick ? 40 : 500;
  Frames frames(options.input, most, options.loop);
  const Shape shape{frames.first().height, frames.first().width};
  const auto all = make_transforms(shape, options, common);
  std::vector<FrameTally> tallies(all.size());
  const dense::Plan<double> exact_plan(shape, true);
  std::vector<std::complex<double>> exact(exact_plan.spectrum_points());
  FrameBuffer buffer;
  ProgressBar progress(static_cast<int>(frames.expected()), common.quiet);
  while (!frames.last()) {
    const video::Frame& stored = frames.next();
    const bool first = frames.count() == 1, checked = frames.count() % 5 == 1;
    if (checked) exact_plan.forward(stored.view(), exact);
    for (std::size_t i = 0; i < all.size(); ++i) {
      progress.show(fmt::format("frame {}: {}", frames.count(), all[i]->name()));
      buffer.load(stored);
      transform_frame(*all[i], buffer, first, checked ? &exact : nullptr, tallies[i]);
    }
    progress.step();
    const bool interrupted = interrupt_requested();
    if (is_mark(frames.count(), frames.last() || interrupted)) {
      std::vector<Row> group;
      for (std::size_t i = 0; i < all.size(); ++i) {
        group.push_back(row_of(shape, frames.count(), *all[i], tallies[i]));
      }
      progress.clear();
      results.add(group);
    }
    if (interrupted) throw Interrupted();
  }
  frames.check_end();
}

}  // namespace sfft::apps
