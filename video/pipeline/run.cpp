// SPDX-License-Identifier: Apache-2.0
// Collects the first frames, learns or takes a template, then pushes each frame through a tracker; samples
// frames for dense timing and verification, and turns failures after the first frame into a status.
#include "video/pipeline/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "video/pipeline/memory.hpp"
#include "video/pipeline/statistics.hpp"
#include "video/sources/decoder.hpp"

namespace sfft::video {

namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

/// Kept between transforms, because allocating aligned memory for every frame fragments the heap and makes it
/// grow.
class Workspace {
 public:
  explicit Workspace(std::size_t bytes) : bytes_(bytes), memory_(bytes + 64) {}

  std::span<std::byte> aligned() {
    void* start = memory_.data();
    std::size_t room = memory_.size();
    std::align(64, bytes_, start, room);
    return {static_cast<std::byte*>(start), bytes_};
  }

 private:
  std::size_t bytes_;
  std::vector<std::byte> memory_;
};

/// Times one dense engine as a user would run it: on the samples as they come or already converted to float,
/// whichever is faster.
class DenseTimer {
 public:
  DenseTimer(const Shape& shape, dense::Engine engine, int threads)
      : plan_(shape, true, {.engine = engine, .planning = dense::Planning::measure, .threads = threads}),
        spectrum_(plan_.spectrum_points()),
        workspace_(plan_.workspace_bytes()) {}

  std::string engine() const { return plan_.engine_name(); }

  double time(const SignalView& frame, const SignalView& converted) {
    if (!warm_) plan_.forward(converted, spectrum_, workspace_.aligned());
    warm_ = true;
    double best = 0;
    for (const SignalView* input : {&frame, &converted}) {
      const auto start = Clock::now();
      plan_.forward(*input, spectrum_, workspace_.aligned());
      const double us = microseconds(Clock::now() - start);
      best = best == 0 ? us : std::min(best, us);
    }
    return best;
  }

 private:
  dense::Plan<float> plan_;
  std::vector<std::complex<float>> spectrum_;
  Workspace workspace_;
  bool warm_ = false;
};

/// Transforms some of the frames densely: the times to beat, and the truth.
class DenseCheck {
 public:
  DenseCheck(const Shape& shape, int threads)
      : shape_(shape),
        exact_(shape, true),
        samples_(static_cast<std::size_t>(shape.points())),
        exact_spectrum_(exact_.spectrum_points()),
        exact_workspace_(exact_.workspace_bytes()) {
    for (const dense::Engine engine : {dense::Engine::built_in, dense::Engine::fftw})
      if (dense::available(engine)) timers_.emplace_back(shape, engine, threads);
  }

  void time(const SignalView& frame, std::vector<RunReport::DenseTimes>& times) {
    convert(frame);
    const SignalView converted(samples_, shape_);
    times.resize(timers_.size());
    for (std::size_t i = 0; i < timers_.size(); ++i) {
      times[i].engine = timers_[i].engine();
      times[i].us.push_back(timers_[i].time(frame, converted));
    }
  }

  /// Compares a spectrum with the exact one, over the support without f = 0.
  void verify(const SignalView& frame, const Spectrum<float>& spectrum, FrameRecord& record) {
    exact_.forward(frame, exact_spectrum_, exact_workspace_.aligned());
    const std::int64_t columns = shape_[1];
    double error = 0;
    double norm = 0;
    for (std::size_t i = 0; i < spectrum.support->size(); ++i) {
      const std::int64_t f = (*spectrum.support)[i];
      if (f == 0) continue;
      std::int64_t row = f / columns;
      std::int64_t column = f % columns;
      const bool stored = column <= columns / 2;
      if (!stored) {
        row = row == 0 ? 0 : shape_[0] - row;
        column = columns - column;
      }
      const std::complex<double> kept =
          exact_spectrum_[static_cast<std::size_t>(row * (columns / 2 + 1) + column)];
      const std::complex<double> truth = stored ? kept : std::conj(kept);
      error += std::norm(std::complex<double>(spectrum.values[i]) - truth);
      norm += std::norm(truth);
    }
    record.true_error = norm > 0 ? std::sqrt(error / norm) : 0;
    // Exact results report no error; float rounding does not count as a failure of the account.
    constexpr double kRounding = 1e-6;
    record.covered = std::sqrt(error) <= 2 * spectrum.error_l2 + kRounding * std::sqrt(norm);
  }

 private:
  void convert(const SignalView& frame) {
    if (frame.type() == ElementType::u8) {
      std::copy_n(static_cast<const std::uint8_t*>(frame.data()), samples_.size(), samples_.begin());
    } else {
      std::copy_n(static_cast<const std::uint16_t*>(frame.data()), samples_.size(), samples_.begin());
    }
  }

  Shape shape_;
  dense::Plan<double> exact_;
  std::vector<float> samples_;
  std::vector<std::complex<double>> exact_spectrum_;
  Workspace exact_workspace_;
  std::vector<DenseTimer> timers_;
};

/// Dense transforms are timed on the first few frames and then now and then: enough for a median, few enough
/// not to dominate.
bool timed_densely(std::int64_t index, std::size_t so_far) {
  constexpr std::size_t kMost = 64;
  return so_far < kMost && (index < 8 || index % 10 == 0);
}

LearnOptions learn_options(const RunOptions& options, const Shape& shape) {
  LearnOptions learn;
  learn.k = options.energy > 0 ? 0 : options.k > 0 ? options.k : default_k(shape);
  learn.energy = options.energy;
  learn.reference = options.reference;
  learn.threads = options.threads;
  learn.backend = options.backend;
  learn.device = options.device;
  return learn;
}

class Run {
 public:
  Run(const RunOptions& options, SpectrumSink* sink, RunReport& report)
      : options_(options), sink_(sink), report_(report) {}

  bool started() const { return tracker_.has_value(); }

  /// Learns from the first frames, or takes the given template, and transforms these frames.
  void start(const std::vector<Frame>& frames) {
    const Frame& first = frames.front();
    report_.first_frame = first;
    const SignalView view = first.view();
    const bool given = options_.tmpl.has_value();
    if (given && options_.tmpl->shape() != view.shape()) {
      throw Error(
          ErrorCode::shape_mismatch,
          fmt::format("the template is for {} frames, the input's are {}: learn one with  sfft-video learn",
                      options_.tmpl->shape().to_string(), view.shape().to_string()));
    }
    std::vector<SignalView> views;
    for (const Frame& frame : frames) views.push_back(frame.view());
    const Template tmpl = given ? *options_.tmpl : learn(views, learn_options(options_, view.shape()));
    report_.first_template = tmpl;
    report_.learn_ms = given ? 0 : 1e3 * tmpl.learn_seconds();
    tracker_.emplace(tmpl, tracker_options(options_));
    if (options_.keep_template) first_plan_ = tracker_->plan();
    dense_.emplace(view.shape(), options_.threads);
    note_plan();
    if (given) {
      transform(first, 0);
      note_plan();
    } else if (sink_ != nullptr) {  // the first frame's spectrum is exact
      Spectrum<float> exact = tracker_->plan().make_spectrum();
      exact.values.assign(tmpl.values().begin(), tmpl.values().end());
      exact.standard_error.assign(exact.values.size(), 0.0F);
      sink_->write(0, exact);
    }
    if (!given) dense_->time(view, report_.dense);
    for (std::size_t i = 1; i < frames.size(); ++i) transform(frames[i], static_cast<std::int64_t>(i));
  }

  void transform(const Frame& frame, std::int64_t index) {
    const SignalView view = frame.view();
    const auto begin = Clock::now();
    const TrackedFrame<float>& tracked = tracker_->push(view);
    FrameRecord record;
    record.us = microseconds(Clock::now() - begin);
    record.copy_us = tracked.spectrum.transfer_us;
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
    report_.calibration = tracked.calibration;
    report_.differencing = tracked.differencing;
    if (options_.verify > 0 && index % options_.verify == 0) dense_->verify(view, tracked.spectrum, record);
    if (timed_densely(index, report_.dense.empty() ? 0 : report_.dense[0].us.size()))
      dense_->time(view, report_.dense);
    if (sink_ != nullptr) sink_->write(index, tracked.spectrum);
    report_.frames.push_back(record);
    if (options_.on_frame) options_.on_frame(record);
  }

  void finish() {
    if (!tracker_) return;
    report_.refreshed = tracker_->refreshed();
    report_.relearned = tracker_->relearned();
    report_.dense_fallbacks = tracker_->dense_fallbacks();
    report_.calibrated = tracker_->calibrated();
    if (options_.keep_template) keep_template();
    std::ranges::stable_sort(report_.dense, {}, [](const auto& times) { return quantile(times.us, 0.5); });
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
  SpectrumSink* sink_;
  RunReport& report_;
  std::optional<Tracker<float>> tracker_;
  std::optional<Plan<float>> first_plan_;
  std::optional<DenseCheck> dense_;
};

void check_size(const Frame& frame, const Frame& first, std::int64_t index) {
  if (frame.width != first.width || frame.height != first.height || frame.bit_depth16 != first.bit_depth16) {
    throw InputError(
        fmt::format("frame {} is {}x{}{}, the first was {}x{}{}: frames must keep their size and depth",
                    index, frame.width, frame.height, frame.bit_depth16 ? " 16-bit" : "", first.width,
                    first.height, first.bit_depth16 ? " 16-bit" : ""));
  }
}

}  // namespace

TrackerOptions tracker_options(const RunOptions& options) {
  TrackerOptions tracking;
  tracking.plan.backend = options.backend;
  tracking.plan.device = options.device;
  tracking.learn.backend = options.backend;
  tracking.learn.device = options.device;
  tracking.plan.threads = options.threads;
  tracking.plan.max_samples = options.max_samples;
  tracking.reference = options.reference;
  tracking.accuracy = options.accuracy;
  tracking.similarity = options.similarity;
  return tracking;
}

Template with_plan(const Template& tmpl, const RunOptions& options) {
  return Tracker<float>(tmpl, tracker_options(options)).plan().keep_in(tmpl);
}

std::int64_t default_k(const Shape& shape) noexcept {
  return std::clamp<std::int64_t>(shape.points() / 64, 1, 1000);
}

RunReport run(FrameSource& source, const RunOptions& options, SpectrumSink* sink,
              const ProgressCallback& progress, const std::atomic<bool>& stop) {
  RunReport report;
  report.input = source.info();
  report.threads = options.threads;
  report.backend = options.backend;
  report.device = options.device;
  report.similarity = options.similarity;
  Run pipeline(options, sink, report);
  // Frames to learn the template from; with a given template only the first is needed to start.
  const std::int64_t wanted = options.tmpl ? 1 : options.learn_frames;
  const std::int64_t most =
      report.input.frames_expected > 0 ? report.input.frames_expected : options.learn_frames;
  std::vector<Frame> first;
  const auto begin = [&] {
    pipeline.start(first);
    first.clear();
  };
  // If the source ends or breaks before there are that many, what was read is transformed all the same.
  const auto begin_with_fewer = [&] {
    if (!pipeline.started() && !first.empty()) begin();
  };
  try {
    Decoder decoder(source, options.frames);
    DecodedFrame decoded;
    const Frame& frame = decoded.frame;
    while (!stop && decoder.next(decoded, stop)) {
      report.decode_us.push_back(decoded.decode_us);
      if (report.frames_read > 0)
        check_size(frame, first.empty() ? report.first_frame : first[0], report.frames_read);
      if (pipeline.started()) {
        pipeline.transform(frame, report.frames_read);
      } else {
        if (first.empty()) check_held_frames(std::min(wanted, most), frame, held_frames_limit_bytes());
        first.push_back(frame);
        if (static_cast<std::int64_t>(first.size()) >= wanted) begin();
      }
      ++report.frames_read;
      progress(report.frames_read, options.frames > 0 ? options.frames : report.input.frames_expected);
    }
    begin_with_fewer();
    if (stop) {
      report.status = RunStatus::interrupted;
      report.message = fmt::format("interrupted after {} frames", report.frames_read);
    } else if (report.frames_read == 0) {
      throw InputError(fmt::format("{} holds no frames", report.input.path));
    }
  } catch (const InputError& error) {
    begin_with_fewer();
    // A signal that cuts a blocked read short is not damage.
    report.status = stop ? RunStatus::interrupted : RunStatus::input_damaged;
    report.message = stop ? fmt::format("interrupted after {} frames", report.frames_read) : error.what();
  } catch (const std::exception& error) {
    if (!pipeline.started()) throw;
    report.status = RunStatus::failed;
    report.message = fmt::format("failed after {} frames: {}", report.frames_read, error.what());
    report.failure = std::current_exception();
  }
  if (report.frames_read > 0) {  // sources that learn their size with the first frame
    report.input.width = report.first_frame.width;
    report.input.height = report.first_frame.height;
  }
  report.warnings = source.warnings();
  if (options.tmpl && !options.tmpl->kept_plans_problem().empty())
    report.warnings.push_back(
        fmt::format("Plans in the template file are not used: {}.", options.tmpl->kept_plans_problem()));
  pipeline.finish();
  return report;
}

}  // namespace sfft::video
