// SPDX-License-Identifier: Apache-2.0
// Transforms a run's frames as long as they keep their format: learns a template or takes a given one, pushes
// frames through a tracker, and records the results.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/runtime/elapsed.hpp"
#include "kernels/runtime/host_resources.hpp"
#include "video/pipeline/batching.hpp"
#include "video/pipeline/dense_check.hpp"
#include "video/pipeline/run.hpp"
#include "video/pipeline/statistics.hpp"

namespace sfft::video {

/// Adds the microseconds of its lifetime to a sum.
class StageTimer {
 public:
  explicit StageTimer(double& us) : us_(us) {}
  ~StageTimer() { us_ += detail::us_since(begin_); }
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;

 private:
  double& us_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

class SegmentRun {
 public:
  /// `begin`: number of the segment's first frame.
  SegmentRun(const RunOptions& options, const FrameSource& source, SpectrumSink* sink, RunReport& report,
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
    TrackerOptions tracking = tracker_options(options_, one_by_one(), source_.on_gpu());
    // On the CPU the tracker's check also calibrates. Frames that a GPU transforms are checked on the CPU in
    // record().
    const std::int64_t before = given ? 0 : 1;  // number of the first frame pushed
    if (options_.verify > 0) {
      tracking.check = [this, before](std::int64_t frame) {
        return !on_gpu() && (frame + before) % options_.verify == 0;
      };
    }
    make_tracker(tmpl, std::move(tracking));
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
    const std::size_t max = batching(first.samples.size()).max;
    for (std::size_t i = 0; i < others.size(); i += max)
      transform(others.subspan(i, std::min(max, others.size() - i)),
                begin_ + static_cast<std::int64_t>(i) + 1);
  }

  /// Returns how the frames after the first ones are batched. Call it after start().
  Batching batching(std::size_t frame_bytes) const {
    return choose_batching(batching_request(on_gpu()), frame_bytes, batch_limit_bytes());
  }
  bool on_gpu() const { return tracker_->plan().info().backend == Backend::cuda; }

  /// Transforms frames. `index`: number of the first one. If a frame fails, the frames before it are in the
  /// report. `coming`: decoded frames of later calls.
  void transform(std::span<const SignalView> frames, std::int64_t index,
                 std::span<const SignalView> coming = {}) {
    std::exception_ptr failure;
    try {
      const StageTimer timer(report_.stages.tracker_us);
      tracker_->push(frames, coming);
    } catch (...) {
      failure = std::current_exception();
    }
    const std::span<const Tracker<float>::Frame> results = tracker_->results();
    const StageTimer timer(report_.stages.results_us);
    ++report_.pushes;
    for (std::size_t i = 0; i < results.size(); ++i)
      record(frames[i], results[i], index + static_cast<std::int64_t>(i));
    if (failure) std::rethrow_exception(failure);
  }
  /// Prepares the tracker for frames like this one. May run on another thread until the first transform(),
  /// which waits for it.
  void prepare(const SignalView& like) noexcept {
    try {
      tracker_->prepare(like);
    } catch (const std::exception&) {  // it recurs, and is reported, when a frame needs this
    }
  }
  /// Lets the GPU begin with decoded frames that transform() will get next.
  void expect(std::span<const SignalView> coming) {
    const StageTimer timer(report_.stages.ahead_us);
    tracker_->push({}, coming);
  }
  /// The GPU reads no frame after this call.
  void expect_no_more() noexcept {
    try {
      tracker_->push({}, {});
    } catch (...) {  // the report names what ended the run, not this
    }
  }
  /// Number of frames that the latest transform() finished.
  std::size_t transformed() const { return tracker_->results().size(); }

  void record(const SignalView& view, const Tracker<float>::Frame& tracked, std::int64_t index) {
    FrameRecord record;
    record.copy_us = tracked.spectrum.transfer_us;
    record.us = std::max(tracked.us, record.copy_us);
    record.transferred_bytes = tracked.spectrum.transferred_bytes;
    record.index = index;
    record.action = tracked.action;
    record.relative_error = tracked.spectrum.quality.relative_error;
    record.error_l2 = tracked.spectrum.quality.error_l2;
    record.residual = tracked.spectrum.quality.residual;
    record.finite = tracked.spectrum.quality.finite;
    record.reason = tracked.reason;
    record.similarity = tracked.similarity;
    // The similarity is not part of the transform, and its time is reported separately.
    if (options_.similarity && tracked.similarity) record.us -= tracked.similarity->us;
    if (tracked.check) note(*tracked.check, record);
    report_.tracking.calibration = tracked.calibration;
    report_.tracking.differencing = tracked.differencing;
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
    report_.tracking.refreshed += tracker_->refreshed();
    report_.tracking.relearned += tracker_->relearned();
    report_.tracking.dense_fallbacks += tracker_->dense_fallbacks();
    report_.tracking.calibrated += tracker_->calibrated();
    report_.tracking.refined += tracker_->refined();
    report_.tracking.refinement = tracker_->refinement();
    if (options_.keep_template) keep_template();
    std::ranges::stable_sort(report_.dense, {}, [](const auto& times) { return quantile(times.us, 0.5); });
  }

  BatchingRequest batching_request(bool gpu) const {
    return {options_.batch, gpu, gpu ? one_by_one() : source_.live(),
            options_.threads > 0 ? options_.threads : detail::usable_processors(),
            shared_ ? static_cast<int>(options_.device.gpus().size()) : 0};
  }

 private:
  /// Whether to plan on a GPU for frames that come one by one.
  bool one_by_one() const { return source_.live() && !source_.may_be_recorded(); }

  /// Uses all GPUs only if one of them needs clearly more time per frame than the host thread that feeds it.
  void make_tracker(const Template& tmpl, TrackerOptions tracking) {
    constexpr double kEnoughUs = 16;
    const Device all = tracking.plan.device;
    if (all.several()) {
      if (const Availability here = availability(all); !here)
        throw Error(ErrorCode::backend_unavailable, here.reason);
      tracking.plan.device = Device::gpu(all.gpu_number());
    }
    const int shared_batch = std::exchange(tracking.plan.batch, plan_batch(batching_request(on_cuda())));
    tracker_.emplace(tmpl, tracking);
    if (!all.several() || tracker_->plan().info().predicted_us < kEnoughUs) return;
    tracking.plan.device = all;
    shared_ = true;
    tracking.plan.batch = shared_batch;
    tracker_.emplace(tmpl, tracking);
  }
  bool on_cuda() const { return options_.device.backend() == Backend::cuda; }

  void note_plan() {
    report_.plan = tracker_->plan().info();
    if (options_.device.several() && !shared_)
      report_.plan.engine += ", alone of the GPUs named: others would wait for the host";
    report_.explanation = tracker_->plan().explain();
  }

  /// Keeps the last template with its last plan, and also with the first plan if the template is still the
  /// first one.
  void keep_template() {
    const Plan<float>& last = tracker_->plan();
    Template tmpl = last.source();
    if (first_plan_->source() == tmpl) tmpl = first_plan_->keep_in(tmpl);
    report_.last_template = last.keep_in(tmpl);
  }

  const RunOptions& options_;
  const FrameSource& source_;
  SpectrumSink* sink_;
  RunReport& report_;
  std::int64_t begin_;
  bool shared_ = false;  ///< all named GPUs share the frames; otherwise the first one transforms them all
  std::optional<Tracker<float>> tracker_;
  std::optional<Plan<float>> first_plan_;
  std::optional<DenseCheck> dense_;
};

}  // namespace sfft::video
