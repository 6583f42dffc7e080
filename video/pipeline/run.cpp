// SPDX-License-Identifier: Apache-2.0
// Collects the first frames to learn from, then passes the others to the transforms in batches. Failures
// after the first frame become a status.
#include "video/pipeline/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "sfft/error.hpp"
#include "sfft/run_control.hpp"
#include "video/pipeline/batching.hpp"
#include "video/pipeline/memory.hpp"
#include "video/pipeline/segment_run.hpp"
#include "video/sources/decoder.hpp"

namespace sfft::video {

namespace {

/// Only inputs that can change their format on purpose number their segments.
void check_format(const Frame& frame, const FrameFormat& first, std::int64_t index) {
  if (frame.segment != first.segment) return;
  throw InputError(
      fmt::format("frame {} is {}x{}{}, the first was {}x{}{}: frames must keep their size and depth", index,
                  frame.width, frame.height, frame.bit_depth16 ? " 16-bit" : "", first.width, first.height,
                  first.bit_depth16 ? " 16-bit" : ""));
}

/// Reads a source and feeds the run: first the frames to learn from, then batches. A change of format begins
/// a new SegmentRun.
class Reading {
 public:
  Reading(FrameSource& source, const RunOptions& options, SpectrumSink* sink,
          const ProgressCallback& progress, const std::atomic<bool>& stop, RunReport& report)
      : source_(source),
        options_(options),
        progress_(progress),
        stop_(stop),
        report_(report),
        sink_(sink),
        pace_(source.may_be_recorded() ? source.frame_rate() : 0),
        wanted_(options.tmpl ? 1 : options.learn_frames) {
    run_.emplace(options, source, sink, report, 0);
  }

  void read() {
    do {
      if (changed_) begin_segment();
      if (!over()) read_segment();
      begin_with_fewer();
    } while (changed_ && !stop_);
  }
  /// Transforms the frames read so far, even if the source ended or broke before there were enough to learn
  /// from.
  void begin_with_fewer() {
    if (!run_->started() && !first_.empty()) begin();
  }
  bool started() const { return report_.first_template.has_value(); }
  void finish() { run_->finish(); }

 private:
  /// Its destructor informs the run that no more frames will come.
  struct Expected {
    SegmentRun& run;
    ~Expected() { run.expect_no_more(); }
  };

  bool over() const { return stop_ || over_ || changed_ || left() == 0; }

  void read_segment() {
    if (surely_on_cpu()) return read_at_once();
    read_first();
    if (!over()) read_others();
  }

  void begin_segment() {
    run_->finish();
    if (sink_ != nullptr) {
      report_.warnings.push_back(
          fmt::format("Spectra and reconstructed frames are of one size: they end before frame {}.",
                      report_.frames_read));
      sink_ = nullptr;
    }
    run_.emplace(options_, source_, nullptr, report_, report_.frames_read);
    Frame frame = std::move(*changed_);
    changed_.reset();
    take_first(std::move(frame));
  }

  /// A request to stop that comes now ends learning and planning.
  void begin() {
    const bool stopping = stop_;  // then these frames are all that there will be
    run_with_control(
        {}, [&](const char*, double) { return stopping || !stop_; }, [this] { run_->start(first_); });
    first_.clear();
  }

  /// Takes one of the frames to learn from.
  void take_first(Frame frame) {
    const std::int64_t max =
        report_.input.frames_expected > 0 ? report_.input.frames_expected : options_.learn_frames;
    if (first_.empty()) {
      check_held_frames(std::min(wanted_, max), frame, held_frames_limit_bytes());
      like_.width = frame.width;
      like_.height = frame.height;
      like_.bit_depth16 = frame.bit_depth16;
      like_.segment = frame.segment;
      frame_bytes_ = frame.samples.size();
    }
    first_.push_back(std::move(frame));
    if (static_cast<std::int64_t>(first_.size()) >= wanted_) begin();
    count_read(1);
  }

  /// Number of frames that may still be read; -1: any number.
  std::int64_t left() const { return options_.frames > 0 ? options_.frames - report_.frames_read : -1; }

  void count_read(std::size_t frames) {
    for (; frames > 0; --frames) {
      ++report_.frames_read;
      progress_(report_.frames_read, options_.frames > 0 ? options_.frames : report_.input.frames_expected);
    }
  }

  bool surely_on_cpu() const {
    return options_.device.backend() == Backend::cpu ||
           !availability(Device::gpu(options_.device.gpu_number()));
  }

  /// Uses one decoder for all frames. It continues while the template is learned.
  void read_at_once() {
    const SourceInfo& info = report_.input;
    const auto expected = static_cast<std::size_t>(std::max<std::int64_t>(1, info.width * info.height));
    const std::size_t frame_bytes = frame_bytes_ > 0 ? frame_bytes_ : expected;
    const BatchingRequest request = run_->batching_request(false);
    const std::int64_t limit_bytes = batch_limit_bytes();
    const Batching batching = choose_batching(request, frame_bytes, limit_bytes);
    Decoder decoder(source_, {.limit = std::max<std::int64_t>(0, left()),
                              .slots = batching.slots +
                                       (info.width > 0 ? frames_ahead(request, frame_bytes, limit_bytes) : 0),
                              .samples_by_consumer = batching.max == 1,
                              .one_format = true,
                              .like = like()});
    read_first(decoder);
    while (!stop_ && !over_ && !changed_) over_ = !transform_next(decoder, batching);
  }

  /// The expected format of the next frame; null if unknown.
  const Frame* like() const { return frame_bytes_ > 0 ? &like_ : nullptr; }

  /// Reads until the run has started. This decoder stops there, because the plan decides which memory later
  /// frames need.
  void read_first() {
    const std::int64_t wanted = wanted_ - static_cast<std::int64_t>(first_.size());
    if (run_->started() || wanted <= 0) return;
    Decoder decoder(source_, {.limit = options_.frames > 0 ? std::min(wanted, left()) : wanted,
                              .one_format = true,
                              .like = like()});
    read_first(decoder);
  }

  void read_first(Decoder& decoder) {
    while (!stop_ && !run_->started()) {
      const auto frames = decoder.next(1, 1, stop_);
      over_ = frames.empty();
      if (over_) break;
      const Frame& frame = frames[0].frame;
      report_.decode_us.push_back(frames[0].decode_us);
      if (frame_bytes_ > 0 && frame.format() != like_.format()) {
        check_format(frame, like_.format(), report_.frames_read);
        changed_ = frame;
        break;
      }
      take_first(frame);
    }
  }

  void read_others() {
    const std::size_t frame_bytes = frame_bytes_;
    const Batching batching = run_->batching(frame_bytes);
    DecoderOptions decoding{.limit = std::max<std::int64_t>(0, left()),
                            .slots = batching.slots,
                            .one_format = true,
                            .frame_bytes = frame_bytes,
                            .like = like()};
    DevicePictures pictures;
    std::shared_ptr<std::byte> memory;
    if (run_->on_gpu() && source_.on_gpu() && !options_.device.several()) {
      pictures = picture_slots(batching.slots, frame_bytes, options_.device.gpu_number());
      decoding.memory = {pictures.data(), pictures.bytes()};
      if (!decoding.memory.empty()) decoding.pictures = &pictures;
    }
    std::future<void> preparing;
    if (run_->on_gpu()) preparing = prepare_in_background();
    if (run_->on_gpu() && decoding.memory.empty()) {
      memory = lock_slots(batching.slots, frame_bytes, options_.device.gpu_number());
      if (memory != nullptr) decoding.memory = {memory.get(), batching.slots * frame_bytes};
    }
    const Expected expected{*run_};
    Decoder decoder(source_, decoding);
    await(preparing);
    while (!stop_ && !changed_ && transform_next(decoder, batching)) {
    }
  }

  /// Prepares the run while memory is allocated and the first frames are decoded.
  std::future<void> prepare_in_background() {
    try {
      return std::async(std::launch::async, [this] { run_->prepare(report_.first_frame.view()); });
    } catch (const std::exception&) {  // no thread is available
      return {};
    }
  }

  void await(std::future<void>& preparing) {
    const StageTimer timer(report_.stages.waiting_us);
    if (preparing.valid()) preparing.wait();
  }

  /// Passes frames to the GPU as they come. The batch is pushed some frames later, when the GPU has finished
  /// it.
  void hand_over(Decoder& decoder, const Batching& batching) {
    const auto until =
        source_.live() ? std::chrono::steady_clock::now() + DeliveryPace::kMaxWait : Decoder::kNever;
    constexpr std::size_t kTimes = 2, kMore = 4;
    const std::size_t step = (batching.max + kTimes - 1) / kTimes;
    std::size_t wanted = 0;
    while (wanted < batching.max) {
      wanted = std::min(wanted + step, batching.max);
      const std::span<const DecodedFrame> waiting = await(decoder, wanted, until);
      if (waiting.size() < wanted || stop_) return;
      run_->expect(views_of(waiting.first(wanted)));
    }
    // Finished spectra may need further work, which runs in the background until the batch is pushed. The
    // results of that work may need work again, hence the loop.
    for (std::size_t more = 1; more <= kMore; ++more) {
      const std::span<const DecodedFrame> waiting = await(decoder, batching.max + more, until);
      if (waiting.size() < batching.max || stop_) return;
      run_->expect(views_of(waiting));
    }
  }

  std::span<const DecodedFrame> await(Decoder& decoder, std::size_t wanted,
                                      std::chrono::steady_clock::time_point until) {
    const StageTimer timer(report_.stages.waiting_us);
    return decoder.await(wanted, stop_, until);
  }

  /// Returns false after the last frame.
  bool transform_next(Decoder& decoder, const Batching& batching) {
    if (run_->on_gpu() && (!source_.live() || pace_.recorded())) hand_over(decoder, batching);
    const auto frames = next(decoder, batching);
    if (frames.empty()) return false;
    if (source_.may_be_recorded()) pace_.note(frames);
    transform(frames, run_->on_gpu() ? decoder.waiting() : std::span<const DecodedFrame>());
    return true;
  }

  std::span<const DecodedFrame> next(Decoder& decoder, const Batching& batching) {
    // Waking up for each frame of a recording would be too expensive.
    constexpr std::size_t kWake = 4;
    const StageTimer timer(report_.stages.waiting_us);
    return source_.live() ? decoder.next(batching.max, 1, stop_)
                          : decoder.next(batching.max, batching.min, stop_, std::max(kWake, batching.min));
  }

  /// Views of the frames up to the first one of another format.
  std::vector<SignalView> views_of(std::span<const DecodedFrame> frames) const {
    std::vector<SignalView> views;
    for (const DecodedFrame& decoded : frames) {
      if (decoded.frame.format() != like_.format()) break;
      views.push_back(decoded.view());
    }
    return views;
  }

  void transform(std::span<const DecodedFrame> frames, std::span<const DecodedFrame> coming) {
    const std::vector<SignalView> views = views_of(frames);
    for (std::size_t i = 0; i < std::min(views.size() + 1, frames.size()); ++i)
      report_.decode_us.push_back(frames[i].decode_us);
    try {
      if (!views.empty()) run_->transform(views, report_.frames_read, views_of(coming));
    } catch (...) {
      count_read(run_->transformed());
      throw;
    }
    count_read(views.size());
    if (views.size() == frames.size()) return;
    check_format(frames[views.size()].frame, like_.format(), report_.frames_read);
    changed_ = frames[views.size()].copy();
  }

  FrameSource& source_;
  const RunOptions& options_;
  const ProgressCallback& progress_;
  const std::atomic<bool>& stop_;
  RunReport& report_;
  SpectrumSink* sink_;
  std::optional<SegmentRun> run_;
  DeliveryPace pace_;    ///< only for a live source that may be a recording
  std::int64_t wanted_;  ///< frames to learn from; 1 with a given template
  std::vector<Frame> first_;
  Frame like_;                    ///< a frame of the run's format, without samples
  std::size_t frame_bytes_ = 0;   ///< 0: no frame has come
  std::optional<Frame> changed_;  ///< the first frame of another format
  bool over_ = false;             ///< the source has ended
};

bool is_stopped(const std::exception& error) {
  const auto* own = dynamic_cast<const Error*>(&error);
  return own != nullptr && own->code() == ErrorCode::stopped;
}

}  // namespace

RunReport run(FrameSource& source, const RunOptions& options, SpectrumSink* sink,
              const ProgressCallback& progress, const std::atomic<bool>& stop) {
  RunReport report;
  report.input = source.info();
  report.request.threads = options.threads;
  report.request.device = options.device;
  report.request.similarity = options.similarity;
  Reading reading(source, options, sink, progress, stop, report);
  const auto interrupted = [&report] {
    report.status = RunStatus::interrupted;
    report.message = fmt::format("interrupted after {} frames", report.frames_read);
  };
  const auto damaged = [&](const std::string& what) {
    if (stop) return interrupted();  // a signal that ends a blocked read is not damage
    report.status = RunStatus::input_damaged;
    report.message = what;
  };
  try {
    try {
      reading.read();
      if (stop) {
        interrupted();
      } else if (report.frames_read == 0) {
        damaged(fmt::format("{} holds no frames", report.input.path));
      }
    } catch (const InputError& error) {
      reading.begin_with_fewer();
      damaged(error.what());
    }
  } catch (const InputError& error) {  // the frames do not fit the template
    damaged(error.what());
  } catch (const std::exception& error) {
    if (stop && is_stopped(error)) {
      interrupted();
    } else if (!reading.started()) {
      throw;
    } else {
      report.status = RunStatus::failed;
      report.message = fmt::format("failed after {} frames: {}", report.frames_read, error.what());
      report.failure = std::current_exception();
    }
  }
  if (report.frames_read > 0) {  // some sources learn their size from the first frame
    report.input.width = report.first_frame.width;
    report.input.height = report.first_frame.height;
  }
  for (std::string& warning : source.warnings()) report.warnings.push_back(std::move(warning));
  report.input_log = source.log();
  if (options.tmpl && !options.tmpl->kept_plans_problem().empty())
    report.warnings.push_back(
        fmt::format("Plans in the template file are not used: {}.", options.tmpl->kept_plans_problem()));
  reading.finish();
  return report;
}

}  // namespace sfft::video
