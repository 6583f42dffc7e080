// SPDX-License-Identifier: Apache-2.0
// The subcommand video compares learning and sparse transforms of recordings with dense transforms of every
// frame.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "batches.hpp"
#include "commands.hpp"
#include "frame_transform.hpp"
#include "progress.hpp"
#include "run_control.hpp"
#include "sfft/dense.hpp"
#include "sfft/error.hpp"
#include "stream_tally.hpp"

namespace sfft::apps {

namespace {

/// Whether totals are reported after this many frames: 1, 2, 5, 10, 20, 50 … and the last.
bool is_mark(std::int64_t frames, bool last) {
  std::int64_t decade = 1;
  while (decade * 10 <= frames) decade *= 10;
  return last || frames == decade || frames == 2 * decade || frames == 5 * decade;
}

std::vector<std::int64_t> numbers_of_coefficients(const Shape& shape, const VideoOptions& options) {
  if (!options.k.empty()) return options.k;
  return {std::clamp<std::int64_t>(shape.points() / 50, 1, 500),
          std::clamp<std::int64_t>(shape.points() / 25, 1, 1000)};
}

FrameTransforms make_transforms(const Shape& shape, const VideoOptions& options,
                                const CommonOptions& common) {
  const std::vector<std::int64_t> ks = numbers_of_coefficients(shape, options);
  FrameTransforms all;
  if (common.cpu()) {
    add_dense_frames(shape, common.lineup, all);
    add_sfft_frames(ks, common.lineup, all);
  }
#if SFFT_BENCH_CUDA
  if (common.gpu) add_cuda_frames(shape, ks, common.lineup, all);
#endif
  std::vector<std::string> names;
  for (const auto& transform : all) names.push_back(transform->name());
  FrameTransforms chosen;
  for (const std::size_t i : selected(names, options.only)) chosen.push_back(std::move(all[i]));
  return chosen;
}

/// One recording, streamed through all contenders. They take turns after each block of frames: a contender
/// has the machine for a whole block, as in a program, and a disturbance affects all of them.
class Stream {
 public:
  Stream(const InputName& name, std::int64_t max, const VideoOptions& options, const CommonOptions& common)
      : frames_(name, max, options.loop),
        context_{frames_.label(), Shape{frames_.first().height, frames_.first().width}, 0},
        transforms_(make_transforms(context_.shape, options, common)),
        tallies_(transforms_.size()),
        exact_plan_(context_.shape, Domain::real),
        progress_(static_cast<int>(frames_.expected()), common.quiet) {}

  const Shape& shape() const { return context_.shape; }

  void run(Results& results) {
    while (!frames_.last()) {
      read_block();
      for (std::size_t i = 0; i < transforms_.size() && !interrupt_requested(); ++i) push_block(i);
      context_.frames = frames_.count();
      for (std::size_t i = 0; i < block_.size(); ++i) progress_.step();
      report(results);
      check_interrupt();
    }
    frames_.check_end();
  }

 private:
  /// Reads frames up to the next one after which totals are reported, at most 32.
  void read_block() {
    constexpr std::size_t kMax = 32;
    block_.clear();
    exact_.clear();
    do {
      block_.push_back(frames_.next());
      ring_.keep(block_.back());
      if (frames_.count() % 5 == 1) {
        exact_.emplace(block_.size() - 1, exact_plan_.spectrum_points());
        exact_plan_.forward(block_.back().view(), exact_.rbegin()->second);
      }
    } while (!is_mark(frames_.count(), frames_.last()) && block_.size() < kMax);
  }

  void push_block(std::size_t which) {
    FrameTransform& transform = *transforms_[which];
    StreamTally& tally = tallies_[which];
    if (!tally.skipped.empty()) return;
    for (std::size_t i = 0; i < block_.size(); ++i) {
      progress_.show(
          fmt::format("{}, frame {}: {}", context_.recording, context_.frames + 1, transform.name()));
      buffer_.load(block_[i]);
      transform.load(buffer_);
      if (context_.frames + static_cast<std::int64_t>(i) == 0) {
        try {
          measure_preparation(transform, buffer_, tally);
        } catch (const std::runtime_error& error) {  // sfft::Error included
          tally.skipped = error.what();
          return;
        }
      } else {
        measure_frame(transform, buffer_, tally);
      }
      const auto exact = exact_.find(i);
      if (exact != exact_.end()) tally.errors.push_back(transform.error(exact->second));
    }
    time_cold(transform, tally);
  }

  void time_cold(FrameTransform& transform, StreamTally& tally) {
    constexpr std::size_t kColdFrames = 11;
    transform.settle();
    for (int i = 0; i < 2 && tally.cold.size() < kColdFrames; ++i) {
      transform.make_cold();
      tally.cold.push_back(seconds_of([&] { transform.repeat(buffer_); }));
    }
  }

  /// Times frames that were decoded some time ago, each in a separate buffer.
  void time_distinct() {
    for (std::size_t i = 0; i < transforms_.size(); ++i) {
      if (transforms_[i]->device() != "cpu" || !tallies_[i].skipped.empty()) continue;
      progress_.show(fmt::format("{}, frames in turn: {}", context_.recording, transforms_[i]->name()));
      transforms_[i]->settle();
      for (const FrameBuffer& frame : ring_.frames()) {
        tallies_[i].distinct.push_back(seconds_of([&] { transforms_[i]->repeat(frame); }));
      }
    }
  }

  void report(Results& results) {
    const bool over = frames_.last() || interrupt_requested();
    if (!is_mark(context_.frames, over)) return;
    if (over && !interrupt_requested()) time_distinct();
    std::vector<Row> rows;
    for (std::size_t i = 0; i < transforms_.size(); ++i) {
      rows.push_back(stream_row(context_, *transforms_[i], tallies_[i]));
    }
    progress_.clear();
    results.add(rows, over);
    if (over) results.add(break_even_rows(rows, transforms_, tallies_));
  }

  Frames frames_;
  StreamContext context_;
  FrameTransforms transforms_;
  std::vector<StreamTally> tallies_;
  dense::Plan<double> exact_plan_;
  std::vector<video::Frame> block_;
  std::map<std::size_t, std::vector<std::complex<double>>> exact_;  ///< spectra of some frames of the block
  FrameBuffer buffer_;
  FrameRing ring_;
  ProgressBar progress_;
};

}  // namespace

void run_video(const VideoOptions& options, const CommonOptions& common, Results& results) {
  const std::size_t inputs = options.inputs.size();
  if (options.frames.size() > 1 && options.frames.size() != inputs) {
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--frames has {} numbers for {} recordings: give one for all or one for each",
                            options.frames.size(), inputs));
  }
  if (std::count_if(options.inputs.begin(), options.inputs.end(),
                    [](const std::string& input) { return InputName(input).input == "-"; }) > 1) {
    throw Error(ErrorCode::invalid_argument,
                "standard input (-) can be read once: name files for the others");
  }
  // Checks that all recordings exist before the first one is measured.
  for (const std::string& input : options.inputs) {
    const std::string path = InputName(input).input;
    if (!video::input_files(path).empty()) video::open_source(path);
  }
  for (std::size_t i = 0; i < inputs; ++i) {
    const InputName name(options.inputs[i]);
    const std::int64_t max = options.frames.empty() ? (common.quick ? 40 : 500)
                                                    : options.frames[options.frames.size() == 1 ? 0 : i];
    Stream stream(name, max, options, common);
    stream.run(results);
#if SFFT_BENCH_CUDA
    VideoOptions known = options;
    known.k = numbers_of_coefficients(stream.shape(), options);
    if (common.gpu) run_batches(name, max, known, common, results);
#endif
  }
}

}  // namespace sfft::apps
