// SPDX-License-Identifier: Apache-2.0
// The implementation of Tracker: transforms frames, compares some with dense transforms, and renews a stale
// template or reference.
#pragma once

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sfft/template_access.hpp"
#include "sfft/tracker.hpp"
#include "sfft/tracking/calibration.hpp"
#include "sfft/tracking/frame_pipeline.hpp"
#include "sfft/tracking/renewal.hpp"
#include "sfft/tracking/similarity.hpp"
#include "sfft/tracking/stream_memory.hpp"
#include "sfft/tracking/tracking_policy.hpp"
#include "sfft/tracking/worker.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

/// Which of the next frames will be compared with a dense transform, as far as is known. Frames are known by
/// their numbers in the stream.
struct Expectation {
  /// State at the latest look ahead: frames before `ready` had their sparse spectra, the samples of those
  /// before `known` were given, and `dense` dense transforms were done.
  struct Seen {
    std::int64_t ready = 0, known = 0;
    std::size_t dense = 0;
    bool operator==(const Seen&) const = default;
  };

  /// Whether the expectation may have changed. Records `now`, and clears the numbers if so.
  bool outdated(const Seen& now) {
    if (!changed && now == seen) return false;
    changed = false;
    seen = now;
    numbers.clear();
    return true;
  }
  /// Forgets what was found about frames before this one.
  void forget_before(std::int64_t number) {
    found.erase(found.begin(), found.lower_bound(number));
    reports.erase(reports.begin(), reports.lower_bound(number));
  }
  /// Call when the frames to come may get other numbers.
  void forget() {
    found.clear();
    reports.clear();
  }
  /// Call when a new plan or reference makes earlier findings invalid.
  void plan_changed() {
    found.clear();
    changed = true;
  }

  Seen seen;
  bool changed = true;
  std::vector<std::int64_t> numbers;  ///< of the frames that will be compared
  /// What comparisons will find, for frames whose sparse and dense spectra are ready.
  std::map<std::int64_t, Calibration::KnownErrors> found;
  std::map<std::int64_t, Calibration::Report> reports;  ///< of ready sparse spectra
};

/// The results of a push of several frames, and the time that its frames share.
template <class Real>
class PushResults {
 public:
  using Frame = typename Tracker<Real>::Frame;

  /// Whether a push begins with the frames that the last one announced, as far as both are known.
  bool announced(std::span<const SignalView> frames, std::span<const SignalView> coming) const noexcept {
    const std::span<const SignalView> before = next();
    for (std::size_t i = 0; i < std::min(before.size(), frames.size() + coming.size()); ++i) {
      const SignalView& frame = i < frames.size() ? frames[i] : coming[i - frames.size()];
      if (frame.data() != before[i].data()) return false;
    }
    return true;
  }
  void forget_announced() noexcept {
    known_.erase(known_.begin() + static_cast<std::ptrdiff_t>(std::min(done_, known_.size())), known_.end());
  }
  /// Begins a push of several frames. `coming`: the frames after them, as far as they are known.
  void begin(std::span<const SignalView> frames, std::span<const SignalView> coming) {
    known_.assign(frames.begin(), frames.end());
    known_.insert(known_.end(), coming.begin(), coming.end());
    pushed_ = frames.size();
    done_ = 0;
    reserve(pushed_);
  }
  bool finished() const noexcept { return done_ == pushed_; }
  /// The next frame, and all known frames after it.
  std::span<const SignalView> next() const noexcept { return std::span(known_).subspan(done_); }
  /// Makes room for the results of `frames` frames.
  void reserve(std::size_t frames) { results_.resize(std::max(results_.size(), frames)); }
  /// All entries.
  std::span<Frame> room() noexcept { return results_; }
  /// Those of the frames that are done.
  std::span<Frame> done() noexcept { return std::span(results_).first(done_); }
  std::span<const Frame> done() const noexcept { return std::span(results_).first(done_); }
  /// Frames of the push that are not done; 1 for a push of a single frame, which is not counted here.
  std::size_t left() const noexcept { return finished() ? 1 : pushed_ - done_; }
  /// Swaps the result of a frame with the next entry.
  void take(Frame& result) noexcept {
    std::swap(results_[done_], result);
    result.calibration = results_[done_].calibration;  // carried over to frames without a sparse transform
    ++done_;
  }

  /// Adds time of sparse transforms, which is not yet assigned to frames.
  void add_time(double us) noexcept { shared_us_ += us; }
  double shared_us() const noexcept { return shared_us_; }
  /// The next frame to be done shares this time.
  void share_time() { sharing_.push_back(done_); }
  /// Divides the time equally among the frames that share it. It includes time that was spent on them before
  /// the push.
  void divide_time() {
    if (sharing_.empty()) return;
    const double each = shared_us_ / static_cast<double>(sharing_.size());
    for (const std::size_t i : sharing_) {
      if (i < done_) results_[i].us += each;
    }
    static_cast<void>(take_time());
  }
  /// Returns all of the time, and ends the sharing.
  double take_time() noexcept {
    sharing_.clear();
    return std::exchange(shared_us_, 0);
  }

 private:
  std::vector<SignalView> known_;
  std::vector<Frame> results_;
  std::size_t done_ = 0, pushed_ = 0;
  double shared_us_ = 0;
  std::vector<std::size_t> sharing_;
};

template <class Real>
std::vector<std::complex<double>> in_double(const Spectrum<Real>& spectrum) {
  return {spectrum.values.begin(), spectrum.values.end()};
}

/// Behind AnyTracker.
struct TrackerState {
  virtual ~TrackerState() = default;
  virtual const Template& current_template() const noexcept = 0;
  virtual const std::string& refinement() const noexcept = 0;

  AnyTracker::Counts counts;
  std::atomic<bool> in_use{false};  ///< a push is in progress
};

/// What is known about the current frame, and the spectra that it is compared with.
template <class Real>
struct FrameState {
  std::int64_t number = 0;  ///< frames before this one
  typename Tracker<Real>::Frame result;
  Spectrum<Real> sparse;                      ///< sparse spectrum of a frame that is compared
  TrackedFrame::ErrorCheck compared;          ///< what the latest comparison found
  Calibration::Report report{0};              ///< what its sparse spectrum reports, uncalibrated
  std::optional<Template> largest;            ///< the k largest of the frame, if they were learned
  bool exact = false;                         ///< the latest sparse transform left nothing to gain
  bool missed = false;                        ///< errors of the frame are too large
  std::vector<std::complex<Real>> previous;   ///< the plan's values for the frame before, or empty
  std::vector<std::complex<double>> renewed;  ///< X at the support at the last renewal, or empty
};

template <class Real>
class TrackerImpl final : public TrackerState {
 public:
  TrackerImpl(const Template& tmpl, const TrackerOptions& options)
      : options_(options),
        policy_(options),
        plan_(tmpl, plan_options(options.reference)),
        ahead_(plan_),
        dense_(options.plan) {
    install(plan_);
    remember_reference();
    if (!tmpl.values().empty()) learning_.tones = find_tones(*data_of(tmpl), tmpl.values());
  }

  void prepare(const SignalView& like);
  const typename Tracker<Real>::Frame& push(const SignalView& frame);
  std::span<const typename Tracker<Real>::Frame> push(std::span<const SignalView> frames,
                                                      std::span<const SignalView> coming);
  std::span<const typename Tracker<Real>::Frame> results() const noexcept { return push_.done(); }

  const Plan<Real>& plan() const noexcept { return plan_; }
  const Template& current_template() const noexcept override { return plan_.source(); }
  const std::string& refinement() const noexcept override { return refinement_.note; }

 private:
  /// `fraction`: of TrackerOptions::accuracy that the plan is made for.
  PlanOptions plan_options(bool reference, double fraction) const;
  PlanOptions plan_options(bool reference) const {
    return plan_options(reference, policy_.accuracy.fraction());
  }
  bool differencing() const { return plan_.info().reference; }
  /// Whether frames are still compared to find out if they repeat.
  bool testing_repetition() const {
    return options_.reference && !differencing() && policy_.reference.testing_repetition() &&
           options_.calibrate > 0;
  }
  void begin_comparisons(const StreamFrames& frames) noexcept;
  void look_ahead(const StreamFrames& frames) noexcept;
  /// `frames`: how many are known, from the current one on. The first `ready` have their sparse spectra.
  void expect_comparisons(std::size_t frames, std::size_t ready);
  Calibration::Report report_of(const Spectrum<Real>& spectrum,
                                std::span<const std::complex<Real>> previous) const;
  Calibration::Report report_ahead(std::size_t next);
  std::optional<Calibration::KnownErrors> known_errors_ahead(std::size_t next);
  /// Replaces the plan and starts a search for a better one. `exact`: a plan of dense_ for the same template.
  void install(Plan<Real> plan, std::optional<Plan<Real>> exact = std::nullopt);
  /// Replaces the plan, and restarts what was learned about the errors of the old one.
  void replace(Plan<Real> plan, std::optional<Plan<Real>> exact = std::nullopt);
  /// Replaces the plan and nothing else.
  void use(Plan<Real> plan);
  void begin_refinement();
  void take_refined();
  void take_outcome();
  void remember_reference();
  void transform_densely(const SignalView& frame);
  /// Transforms the first of the frames and decides about it. The others are the next frames.
  void track(const StreamFrames& frames);
  void transform_sparsely(const StreamFrames& frames);
  void find_spectrum(const StreamFrames& frames);
  std::size_t run_length() const;
  void cancel_ahead() noexcept;
  bool compare(const SignalView& frame);
  bool tones_seem_lost(const SignalView& frame);
  void compare_suspect(const SignalView& frame);
  bool compare_for_check(const SignalView& frame);
  void review_dense(const SignalView& frame);
  void note_check();
  bool reconsider_reference(const SignalView& frame, double error);
  bool give_up_failing_reference(const SignalView& frame, double error);
  void give_up_reference();
  void take_reference(const SignalView& frame);
  void refresh(const SignalView& frame);
  void learn_amplitudes(TemplateData& data, const SignalView& frame) const;
  bool worth_learning(std::span<const std::complex<double>> values) const;
  double exact_share() const;
  /// `missed`: errors are too large.
  bool relearn_if_outdated(const SignalView& frame, bool missed = false);
  bool relearn_if_better(const SignalView& frame);
  LearnOptions relearn_options() const;
  LearnRequest<Real> learn_request() const;
  void learn_in_background();
  bool learn_or_begin(const SignalView& frame, bool bearable);
  bool take_learned(const SignalView& frame);
  bool plan_for_smaller_errors(double error);
  void renew(const SignalView& frame, double error, bool bearable);
  void note_similarity(const SignalView& frame);
  void begin_similarity(const SignalView& frame);
  void note_similarity_of_any(const SignalView& frame);

  TrackerOptions options_;
  TrackingPolicy policy_;
  Plan<Real> plan_;
  FramePipeline<Real> ahead_;    ///< sparse transforms with the same plan
  BackgroundDense<Real> dense_;  ///< dense transforms at the same template's support
  FrameState<Real> frame_;
  PushResults<Real> push_;
  Expectation expectation_;
  PendingSimilarities similarities_;
  StreamMemory memory_;  ///< the reference, or the last frame transformed densely
  Relearning<Real> learning_;
  Refinement<Real> refinement_;
  Worker retired_;  ///< destroys plans that are no longer in force
};

}  // namespace sfft::detail
