// SPDX-License-Identifier: Apache-2.0
// Collects the first frames, learns or takes a template, then pushes the others through a tracker, in
// batches; samples frames for dense timing and verification, and turns failures after the first frame into a
// status.
#include "video/pipeline/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "video/pipeline/batching.hpp"
#include "video/pipeline/dense_check.hpp"
#include "video/pipeline/memory.hpp"
#include "video/pipeline/statistics.hpp"
#include "video/sources/decoder.hpp"

namespace sfft::video {

namespace {

/// Adds the time that it lives.
class StageTimer {
 public:
  explicit StageTimer(double& us) : us_(us) {}
  ~StageTimer() {
    us_ += std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin_).count();
  }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  double& us_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

int core_count() {
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

class Run {
 public:
  /// `begin`: the number of the first frame that it will get.
  Run(const RunOptions& options, const FrameSource& source, SpectrumSink* sink, RunReport& report,
      std::int64_t begin)
      : options_(options), source_(source), sink_(sink), report_(report), begin_(begin) {}

  bool started() const { return tracker_.has_value(); }

  /// Learns from the first frames, or takes the given template, and transforms these frames.
  void start(const std::vector<Frame>& frames) {
    const Frame& first = frames.front();
    const bool first_ever = !report_.first_template;
    if (first_ever) report_.first_frame = first;
    const SignalView view = first.view();
    const bool given = options_.tmpl.has_value();
    if (given && options_.tmpl->shape() != view.shape()) {
      const std::string text =
          fmt::format("the template is for {} frames, the input's are {}{}: learn one with  sfft-video learn",
                      options_.tmpl->shape().to_string(), view.shape().to_string(),
                      first_ever ? "" : fmt::format(" from frame {} on", begin_));
      if (!first_ever) throw InputError(text);
      throw Error(ErrorCode::shape_mismatch, text);
    }
    std::vector<SignalView> views;
    for (const Frame& frame : frames) views.push_back(frame.view());
    const Template tmpl = given ? *options_.tmpl : learn(views, learn_options(options_, view.shape()));
    if (first_ever) {
      report_.first_template = tmpl;
      report_.learn_ms = given ? 0 : 1e3 * tmpl.learn_seconds();
    }
    TrackerOptions tracking = tracker_options(options_, source_.live(), source_.on_gpu());
    // On the CPU a check calibrates as well. Frames of a GPU are checked by the other processor.
    const std::int64_t before = given ? 0 : 1;  // the first frame pushed
    if (options_.verify > 0) {
      tracking.check = [this, before](std::int64_t frame) {
        return !on_gpu() && (frame + before) % options_.verify == 0;
      };
    }
    tracker_.emplace(tmpl, tracking);
    if (options_.keep_template) first_plan_ = tracker_->plan();
    dense_.emplace(view.shape(), options_.threads);
    if (first_ever) note_plan();
    if (given) {
      transform({&view, 1}, begin_);
      if (first_ever) note_plan();
    } else if (sink_ != nullptr) {  // the first frame's spectrum is exact
      Spectrum<float> exact = tracker_->plan().make_spectrum();
      exact.values.assign(tmpl.values().begin(), tmpl.values().end());
      exact.standard_error.assign(exact.values.size(), 0.0F);
      sink_->write(begin_, exact, view);
    }
    if (!given) dense_->time(view, report_.dense);
    const std::span<const SignalView> others = std::span(views).subspan(1);
    const std::size_t most = batching(first.samples.size()).most;
    for (std::size_t i = 0; i < others.size(); i += most)
      transform(others.subspan(i, std::min(most, others.size() - i)),
                begin_ + static_cast<std::int64_t>(i) + 1);
  }

  /// How the frames after the first ones are handed over; known once the run has started.
  Batching batching(std::size_t frame_bytes) const {
    return choose_batching(batching_request(on_gpu()), frame_bytes, batch_limit_bytes());
  }
  bool on_gpu() const { return tracker_->plan().info().backend == Backend::cuda; }

  /// Transforms frames, the first of which has this index. When one fails, those before it are in the report.
  /// `coming`: frames that will be handed over next, as far as they are there.
  void transform(std::span<const SignalView> frames, std::int64_t index,
                 std::span<const SignalView> coming = {}) {
    std::exception_ptr failure;
    try {
      const StageTimer timer(report_.stages.tracker_us);
      tracker_->push(frames, coming);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::span<const TrackedFrame<float>> results = tracker_->results();
    const StageTimer timer(report_.stages.results_us);
    ++report_.pushes;
    for (std::size_t i = 0; i < results.size(); ++i)
      record(frames[i], results[i], index + static_cast<std::int64_t>(i));
    if (failure) std::rethrow_exception(failure);
  }
  /// May run on another thread until the first transform(), which then waits for it.
  void prepare(const SignalView& like) noexcept {
    try {
      tracker_->prepare(like);
    } catch (const std::exception&) {  // what fails here fails again where a frame needs it
    }
  }
  /// Has the GPU begin with frames that transform() will get next, as far as they are there.
  void expect(std::span<const SignalView> coming) {
    const StageTimer timer(report_.stages.ahead_us);
    tracker_->push({}, coming);
  }
  /// The GPU reads no frame after this.
  void expect_no_more() noexcept {
    try {
      tracker_->push({}, {});
    } catch (...) {  // whatever ended the run is what to report
    }
  }
  /// Frames that the latest transform() has done.
  std::size_t transformed() const { return tracker_->results().size(); }

  void record(const SignalView& view, const TrackedFrame<float>& tracked, std::int64_t index) {
    FrameRecord record;
    record.copy_us = tracked.spectrum.transfer_us;
    record.us = std::max(tracked.us, record.copy_us);
    record.transferred_bytes = tracked.spectrum.transferred_bytes;
    record.index = index;
    record.action = tracked.action;
    record.relative_error = tracked.spectrum.relative_error;
    record.error_l2 = tracked.spectrum.error_l2;
    record.residual = tracked.spectrum.residual;
    record.finite = tracked.spectrum.finite;
    record.reason = tracked.reason;
    record.similarity = tracked.similarity;
    // Asked for beside the transform, and reported beside it.
    if (options_.similarity && tracked.similarity) record.us -= tracked.similarity->us;
    if (tracked.check) note(*tracked.check, record);
    report_.calibration = tracked.calibration;
    report_.differencing = tracked.differencing;
    if (on_gpu() && options_.verify > 0 && index % options_.verify == 0)
      note(dense_->verify(view, tracked.spectrum), record);
    if (timed_densely(index, report_.dense.empty() ? std::vector<double>{} : report_.dense[0].us))
      dense_->time(view, report_.dense);
    if (sink_ != nullptr) sink_->write(index, tracked.spectrum, view);
    report_.frames.push_back(record);
    if (options_.on_frame) options_.on_frame(record);
  }

  void finish() {
    if (!tracker_) return;
    report_.refreshed += tracker_->refreshed();
    report_.relearned += tracker_->relearned();
    report_.dense_fallbacks += tracker_->dense_fallbacks();
    report_.calibrated += tracker_->calibrated();
    report_.refined += tracker_->refined();
    report_.refinement = tracker_->refinement();
    if (options_.keep_template) keep_template();
    std::ranges::stable_sort(report_.dense, {}, [](const auto& times) { return quantile(times.us, 0.5); });
  }

  BatchingRequest batching_request(bool gpu) const {
    return {options_.batch, gpu, source_.live(), options_.threads > 0 ? options_.threads : core_count(),
            static_cast<int>(options_.devices.size())};
  }

 private:
  void note_plan() {
    report_.plan = tracker_->plan().info();
    report_.explanation = tracker_->plan().explain();
  }

  /// The last template has its last plan, and the first one if it is still the first template.
  void keep_template() {
    const Plan<float>& last = tracker_->plan();
    Template tmpl = last.source();
    if (first_plan_->source().data() == tmpl.data()) tmpl = first_plan_->keep_in(tmpl);
    report_.last_template = last.keep_in(tmpl);
  }

  const RunOptions& options_;
  const FrameSource& source_;
  SpectrumSink* sink_;
  RunReport& report_;
  std::int64_t begin_;
  std::optional<Tracker<float>> tracker_;
  std::optional<Plan<float>> first_plan_;
  std::optional<DenseCheck> dense_;
};

/// Only inputs that can change their format on purpose number their segments.
void check_format(const Frame& frame, const FrameFormat& first, std::int64_t index) {
  if (frame.segment != first.segment) return;
  throw InputError(
      fmt::format("frame {} is {}x{}{}, the first was {}x{}{}: frames must keep their size and depth", index,
                  frame.width, frame.height, frame.bit_depth16 ? " 16-bit" : "", first.width, first.height,
                  first.bit_depth16 ? " 16-bit" : ""));
}

/// Reads a source and feeds the run: first the frames to learn from, then batches. Where frames change their
/// format, a new run begins with them.
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
  /// If the source ends or breaks before there are enough frames to learn from, what was read is transformed
  /// all the same.
  void begin_with_fewer() {
    if (!run_->started() && !first_.empty()) begin();
  }
  bool started() const { return report_.first_template.has_value(); }
  void finish() { run_->finish(); }

 private:
  /// Ends with the memory that expected frames are in.
  struct Expected {
    Run& run;
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

  void begin() {
    run_->start(first_);
    first_.clear();
  }

  /// One of the frames to learn from.
  void take_first(Frame frame) {
    const std::int64_t most =
        report_.input.frames_expected > 0 ? report_.input.frames_expected : options_.learn_frames;
    if (first_.empty()) {
      check_held_frames(std::min(wanted_, most), frame, held_frames_limit_bytes());
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

  /// Frames that may still be read; -1: any number.
  std::int64_t left() const { return options_.frames > 0 ? options_.frames - report_.frames_read : -1; }

  void count_read(std::size_t frames) {
    for (; frames > 0; --frames) {
      ++report_.frames_read;
      progress_(report_.frames_read, options_.frames > 0 ? options_.frames : report_.input.frames_expected);
    }
  }

  bool surely_on_cpu() const {
    return options_.backend == Backend::cpu || !unavailable(Backend::cuda, options_.device).empty();
  }

  /// One decoder for all frames: it goes on while the first ones are learned from.
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
                              .samples_by_consumer = batching.most == 1,
                              .one_format = true,
                              .like = like()});
    read_first(decoder);
    while (!stop_ && !over_ && !changed_) over_ = !transform_next(decoder, batching);
  }

  /// What is expected of the next frame; null: nothing.
  const Frame* like() const { return frame_bytes_ > 0 ? &like_ : nullptr; }

  /// Until the run has started. The decoder reads no further than that, because where frames go then depends
  /// on the plan.
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
    PageLockedMemory memory;
    if (run_->on_gpu() && source_.on_gpu() && options_.devices.size() < 2) {
      pictures = picture_slots(batching.slots, frame_bytes, options_.device);
      decoding.memory = {pictures.data(), pictures.bytes()};
      if (!decoding.memory.empty()) decoding.pictures = &pictures;
    }
    std::future<void> preparing;
    if (run_->on_gpu()) preparing = prepare_beside();
    if (run_->on_gpu() && decoding.memory.empty()) {
      memory = lock_slots(batching.slots, frame_bytes, options_.device);
      decoding.memory = {memory.data(), memory.bytes()};
    }
    const Expected expected{*run_};
    Decoder decoder(source_, decoding);
    await(preparing);
    while (!stop_ && !changed_ && transform_next(decoder, batching)) {
    }
  }

  /// While memory is allocated and the first frames are decoded.
  std::future<void> prepare_beside() {
    try {
      return std::async(std::launch::async, [this] { run_->prepare(report_.first_frame.view()); });
    } catch (const std::exception&) {  // no thread to be had
      return {};
    }
  }

  void await(std::future<void>& preparing) {
    const StageTimer timer(report_.stages.waiting_us);
    if (preparing.valid()) preparing.wait();
  }

  /// The GPU gets frames as they come: when the last of a batch is there, the others' transforms are done.
  void hand_over(Decoder& decoder, const Batching& batching) {
    constexpr std::size_t kTimes = 8;
    const std::size_t step = std::max<std::size_t>(1, batching.most / kTimes);
    for (std::size_t wanted = step; wanted < batching.most && !stop_; wanted += step) {
      const std::span<const DecodedFrame> waiting = await(decoder, wanted);
      if (waiting.size() < wanted) return;
      run_->expect(views_of(waiting));
    }
  }

  std::span<const DecodedFrame> await(Decoder& decoder, std::size_t wanted) {
    const StageTimer timer(report_.stages.waiting_us);
    return decoder.await(wanted, stop_);
  }

  /// False after the last frame.
  bool transform_next(Decoder& decoder, const Batching& batching) {
    if (run_->on_gpu() && !source_.live()) hand_over(decoder, batching);
    const auto frames = next(decoder, batching);
    if (frames.empty()) return false;
    transform(frames, run_->on_gpu() ? decoder.waiting() : std::span<const DecodedFrame>());
    return true;
  }

  std::span<const DecodedFrame> next(Decoder& decoder, const Batching& batching) {
    // Frames of a recording are not waited for one by one.
    constexpr std::size_t kWake = 4;
    const StageTimer timer(report_.stages.waiting_us);
    return decoder.next(batching.most, batching.least, stop_,
                        source_.live() ? 1 : std::max(kWake, batching.least));
  }

  /// Frames up to the first of another size.
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
  std::optional<Run> run_;
  std::int64_t wanted_;  ///< frames to learn from; with a given template only the first is needed to start
  std::vector<Frame> first_;
  Frame like_;                    ///< of the run's format, without samples
  std::size_t frame_bytes_ = 0;   ///< 0: no frame has come
  std::optional<Frame> changed_;  ///< the first one of another format
  bool over_ = false;             ///< the source
};

}  // namespace

RunReport run(FrameSource& source, const RunOptions& options, SpectrumSink* sink,
              const ProgressCallback& progress, const std::atomic<bool>& stop) {
  RunReport report;
  report.input = source.info();
  report.threads = options.threads;
  report.backend = options.backend;
  report.device = options.device;
  report.devices = options.devices;
  report.similarity = options.similarity;
  Reading reading(source, options, sink, progress, stop, report);
  try {
    reading.read();
    if (stop) {
      report.status = RunStatus::interrupted;
      report.message = fmt::format("interrupted after {} frames", report.frames_read);
    } else if (report.frames_read == 0) {
      throw InputError(fmt::format("{} holds no frames", report.input.path));
    }
  } catch (const InputError& error) {
    reading.begin_with_fewer();
    // A signal that cuts a blocked read short is not damage.
    report.status = stop ? RunStatus::interrupted : RunStatus::input_damaged;
    report.message = stop ? fmt::format("interrupted after {} frames", report.frames_read) : error.what();
  } catch (const std::exception& error) {
    if (!reading.started()) throw;
    report.status = RunStatus::failed;
    report.message = fmt::format("failed after {} frames: {}", report.frames_read, error.what());
    report.failure = std::current_exception();
  }
  if (report.frames_read > 0) {  // sources that learn their size with the first frame
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
