// SPDX-License-Identifier: Apache-2.0
// The implementation of Tracker: transforms frames, compares some with dense transforms, and renews a stale
// template or reference.
#pragma once

#include <algorithm>
#include <atomic>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <future>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "sfft/template_access.hpp"
#include "sfft/tracker.hpp"
#include "sfft/tracking/background_dense.hpp"
#include "sfft/tracking/background_learning.hpp"
#include "sfft/tracking/calibration.hpp"
#include "sfft/tracking/refinement.hpp"
#include "sfft/tracking/run_ahead.hpp"
#include "sfft/tracking/staleness.hpp"
#include "sfft/tracking/stream_memory.hpp"
#include "sfft/tracking/support_watch.hpp"
#include "sfft/tracking/worker.hpp"
#include "template/data/template_data.hpp"

namespace sfft::detail {

template <class Real>
std::vector<std::complex<double>> in_double(const Spectrum<Real>& spectrum) {
  return {spectrum.values.begin(), spectrum.values.end()};
}

template <class Real>
class TrackerImpl {
 public:
  TrackerImpl(const Template& tmpl, const TrackerOptions& options)
      : options_(options),
        plan_(tmpl, plan_options(options.reference)),
        ahead_(plan_),
        dense_(options.plan),
        calibration_(options.calibrate),
        watch_(options),
        staleness_(options) {
    install(plan_);
    remember_reference();
    if (!tmpl.values().empty()) tones_ = find_tones(*data_of(tmpl), tmpl.values());
  }

  void prepare(const SignalView& like);
  const typename Tracker<Real>::Frame& push(const SignalView& frame);
  std::span<const typename Tracker<Real>::Frame> push(std::span<const SignalView> frames,
                                                      std::span<const SignalView> coming);
  std::span<const typename Tracker<Real>::Frame> results() const noexcept {
    return std::span(results_).first(results_done_);
  }

  const Plan<Real>& plan() const noexcept { return plan_; }
  std::int64_t refreshed_count = 0, relearned_count = 0, dense_count = 0, calibrated_count = 0,
               refined_count = 0;
  std::string refinement_note;
  std::atomic<bool> in_use{false};  ///< a push is in progress

 private:
  /// A smaller relative error leaves nothing to gain.
  static constexpr double kExact = 1e-5;
  /// Frames from one decision about the reference to the next, given the last such interval.
  static int next_step(int step) noexcept {
    constexpr int kLongestWait = 256;
    return std::min(2 * step, kLongestWait);
  }

  /// `fraction`: share of the accuracy that the plan is made for.
  PlanOptions plan_options(bool reference, double fraction) const;
  PlanOptions plan_options(bool reference) const { return plan_options(reference, accuracy_fraction_); }
  bool differencing() const { return plan_.info().reference; }
  /// Whether frames are still compared to find out if they repeat.
  bool testing_repetition() const {
    return options_.reference && !differencing() && repetition_tests_ < 2 && options_.calibrate > 0;
  }
  void begin_comparisons(std::span<const SignalView> frames) noexcept;
  void look_ahead(std::span<const SignalView> frames) noexcept;
  void expect_comparisons(std::span<const SignalView> frames, std::size_t ready);
  Calibration::Report report_of(const Spectrum<Real>& spectrum,
                                std::span<const std::complex<Real>> previous) const;
  Calibration::Report report_ahead(std::size_t next);
  std::optional<Calibration::KnownErrors> known_errors_ahead(std::span<const SignalView> frames,
                                                             std::size_t next);
  /// Whether a comparison may change the reference.
  bool may_decide() const { return !differencing() || frames_ >= next_decision_; }
  /// Replaces the plan and starts a search for a better one. `exact`: a plan of dense_ for the same template.
  void install(Plan<Real> plan, std::optional<Plan<Real>> exact = std::nullopt);
  void replace(Plan<Real> plan, std::optional<Plan<Real>> exact = std::nullopt);
  void use(Plan<Real> plan);
  void begin_refinement();
  void take_refined();
  void remember_reference();
  void transform_densely(const SignalView& frame);
  void track(std::span<const SignalView> frames);
  void transform_sparsely(std::span<const SignalView> frames);
  void find_spectrum(std::span<const SignalView> frames);
  std::size_t run_length() const;
  void forget_ahead() noexcept;
  void divide_time();
  bool compare(const SignalView& frame);
  bool tones_seem_lost(const SignalView& frame);
  void compare_suspect(const SignalView& frame);
  bool compare_for_check(const SignalView& frame);
  void review_dense(const SignalView& frame);
  void note_check();
  bool reconsider_reference(const SignalView& frame, double error);
  bool differences_fail(const StreamMemory::Change& change, double error);
  bool give_up_failing_reference(const SignalView& frame, double error);
  void give_up_reference();
  void take_reference(const SignalView& frame);
  void refresh(const SignalView& frame);
  void learn_amplitudes(TemplateData& data, const SignalView& frame) const;
  bool worth_learning(std::span<const std::complex<double>> values) const;
  double exact_share() const;
  bool relearn_if_outdated(const SignalView& frame, bool missed = false);
  bool relearn_if_better(const SignalView& frame);
  LearnOptions relearn_options() const;
  LearnRequest<Real> learn_request() const;
  void note_tones(const LearnAnswer<Real>& answer, std::int64_t frame);
  void learn_in_background();
  bool learn_or_begin(const SignalView& frame, bool bearable);
  bool take_learned(const SignalView& frame);
  bool plan_for_smaller_errors(double error);
  void renew(const SignalView& frame, double error, bool bearable);
  void note_similarity(const SignalView& frame);
  void begin_similarity(const SignalView& frame);
  void take_similarities(std::span<typename Tracker<Real>::Frame> results);
  void note_similarity_of_any(const SignalView& frame);

  TrackerOptions options_;
  double accuracy_fraction_ = 1;  ///< fraction of the accuracy that plans for this template are made for
  bool smaller_errors_possible_ = true;  ///< a plan for a smaller fraction may be possible
  Plan<Real> plan_;
  RunAhead<Real> ahead_;         ///< sparse transforms with the same plan
  BackgroundDense<Real> dense_;  ///< dense transforms at the same template's support
  typename Tracker<Real>::Frame result_;
  Spectrum<Real> sparse_;                             ///< sparse spectrum of a frame that is compared
  TrackedFrame::ErrorCheck compared_;                 ///< what the latest comparison found
  Calibration::Report report_{0};                     ///< report of the current frame, if it is sparse
  std::vector<std::complex<Real>> previous_;          ///< the plan's values for the previous frame, or empty
  std::vector<std::complex<double>> renewed_values_;  ///< X at the support at the last renewal, or empty
  std::optional<Template> largest_;                   ///< the k largest of this frame, if they were learned
  std::int64_t frames_ = 0;

  std::vector<typename Tracker<Real>::Frame> results_;  ///< results of the latest push of several frames
  std::size_t results_done_ = 0;
  std::size_t pushed_ = 0;         ///< frames of the latest push of several
  std::vector<SignalView> known_;  ///< frames of this push and those announced after it
  double sparse_us_ = 0;           ///< time of sparse transforms that is not yet assigned to frames
  std::vector<std::size_t> sharing_results_;  ///< results of the frames that share this time
  bool exact_ = false;                        ///< the latest sparse transform left nothing to gain

  /// State at the latest look ahead: all frames before `ready` had their sparse spectra, those before `known`
  /// were known, and `dense` dense transforms were done.
  struct Seen {
    std::int64_t ready = 0, known = 0;
    std::size_t dense = 0;
    bool operator==(const Seen&) const = default;
  };
  Seen seen_;
  bool expectation_outdated_ = true;    ///< expected_ may be out of date
  std::vector<std::int64_t> expected_;  ///< frames that will be transformed densely, as far as is known
  /// Results of future comparisons whose spectra are ready, by frame number.
  std::map<std::int64_t, Calibration::KnownErrors> found_;
  std::map<std::int64_t, Calibration::Report> reports_;  ///< reports of ready spectra, by frame number

  Calibration calibration_;
  /// The similarity of a frame that caused a renewal, computed in the background.
  struct Similar {
    std::int64_t frame;
    std::future<std::optional<TrackedFrame::Similarity>> found;
  };
  std::vector<Similar> similar_;

  StreamMemory memory_;              ///< the reference, or the last frame transformed densely
  int repetition_tests_ = 0;         ///< frames compared to find out whether frames repeat
  int departures_ = 0;               ///< decisions in a row that found a frame unlike its reference
  int failures_ = 0;                 ///< frames in close succession for which differences failed
  std::int64_t failed_at_ = 0;       ///< the last of these frames
  std::int64_t next_reference_ = 0;  ///< first frame that may become another reference
  std::int64_t next_decision_ = 0;   ///< first frame whose comparison may change the reference
  int decision_step_ = 1;            ///< frames from one decision to the next
  double fresh_share_ = 0;  ///< share of a frame's energy in the support last learned from that frame
  std::int64_t learned_at_ = std::numeric_limits<std::int64_t>::min() / 2;  ///< the number of that frame

  std::vector<DriftingTone> tones_;             ///< tones of a frame that a template was learned from
  std::int64_t tones_at_ = -1;                  ///< the number of that frame
  std::optional<LearnRequest<Real>> to_learn_;  ///< request to learn from the current frame
  BackgroundLearning<Real> learning_;
  Refinement<Real> refinement_;
  std::shared_ptr<const TemplateData> searched_for_;  ///< template of the latest search

  SupportWatch watch_;
  bool missed_ = false;                 ///< errors of the current frame are too large
  std::int64_t calibration_began_ = 0;  ///< frame at which the calibration started

  Worker retired_;  ///< destroys plans that are no longer in force
  Staleness staleness_;
  int skip_sparse_ = 0;  ///< how many of the next frames get only a dense transform
};

}  // namespace sfft::detail
