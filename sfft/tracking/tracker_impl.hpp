// SPDX-License-Identifier: Apache-2.0
// The implementation of Tracker: transforms frames, compares some with dense transforms, and renews a stale
// template or reference.
#pragma once

#include <atomic>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sfft/template_access.hpp"
#include "sfft/tracker.hpp"
#include "sfft/tracking/background_dense.hpp"
#include "sfft/tracking/expectation.hpp"
#include "sfft/tracking/push_results.hpp"
#include "sfft/tracking/refinement.hpp"
#include "sfft/tracking/relearning.hpp"
#include "sfft/tracking/run_ahead.hpp"
#include "sfft/tracking/similarity.hpp"
#include "sfft/tracking/stream_memory.hpp"
#include "sfft/tracking/tracking_policy.hpp"
#include "sfft/tracking/worker.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

template <class Real>
std::vector<std::complex<double>> in_double(const Spectrum<Real>& spectrum) {
  return {spectrum.values.begin(), spectrum.values.end()};
}

/// What a tracker has done.
struct TrackerCounts {
  std::int64_t refreshed = 0, relearned = 0, dense = 0, calibrated = 0, refined = 0;
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
class TrackerImpl {
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
  const std::string& refinement() const noexcept { return refinement_.note; }

  TrackerCounts counts;
  std::atomic<bool> in_use{false};  ///< a push is in progress

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
  void begin_comparisons(std::span<const SignalView> frames) noexcept;
  void look_ahead(std::span<const SignalView> frames) noexcept;
  void expect_comparisons(std::span<const SignalView> frames, std::size_t ready);
  Calibration::Report report_of(const Spectrum<Real>& spectrum,
                                std::span<const std::complex<Real>> previous) const;
  Calibration::Report report_ahead(std::size_t next);
  std::optional<Calibration::KnownErrors> known_errors_ahead(std::span<const SignalView> frames,
                                                             std::size_t next);
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
  void track(std::span<const SignalView> frames);
  void transform_sparsely(std::span<const SignalView> frames);
  void find_spectrum(std::span<const SignalView> frames);
  std::size_t run_length() const;
  void forget_ahead() noexcept;
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
  RunAhead<Real> ahead_;         ///< sparse transforms with the same plan
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
