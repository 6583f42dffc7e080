// SPDX-License-Identifier: Apache-2.0
// What a tracker decides from the statistics of its frames. None of these classes transforms anything or sees
// a frame.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "sfft/tracker.hpp"
#include "sfft/tracking/calibration.hpp"
#include "sfft/tracking/stream_memory.hpp"

namespace sfft::detail {

/// Decides when frames are worth transforming as differences to a reference. Follows the changes between
/// frames that were transformed densely. `tail`: energy of such a frame outside the support. `error`:
/// relative error of its sparse transform. `frame`: its number.
class ReferencePolicy {
 public:
  /// A smaller relative error leaves nothing to gain.
  static constexpr double kExact = 1e-5;
  /// Frames from one decision about the reference to the next, given the last such interval.
  static int next_step(int step) noexcept;

  /// Whether frames are still compared to find out if they repeat.
  bool testing_repetition() const noexcept { return tests_ < 2; }
  /// Whether a comparison may change the reference again.
  bool may_decide(std::int64_t frame) const noexcept { return frame >= next_decision_; }
  /// First frame whose comparison may change the reference, and the interval after it.
  std::int64_t next_decision() const noexcept { return next_decision_; }
  int decision_step() const noexcept { return decision_step_; }
  /// Call after a decision: each doubles the wait for the next, up to 256 frames.
  void decided(std::int64_t frame) noexcept;

  /// Counts a comparison of a frame that has no reference. True: the frame may become the reference, if it
  /// repeats.
  bool may_take(std::int64_t frame, double error) noexcept;
  /// Whether so little changed between two frames, outside the support and in it, that differences are
  /// worthwhile.
  static bool repeats(const StreamMemory::Change& change, double tail) noexcept;

  /// Call for a frame with a reference. True: the frame is unlike the reference.
  bool departs(const StreamMemory::Change& change, double tail) noexcept;
  /// Whether the last decision found a frame unlike the reference.
  bool departing() const noexcept { return departures_ > 0; }
  /// Whether three decisions in a row did, so that the reference is of no use. One departure may be a cut,
  /// after which frames repeat again. Two may be an object that passed and became the reference.
  bool departed() const noexcept { return departures_ >= kDepartures; }
  /// Whether an error is large enough to be caused by the differences themselves.
  static bool large(double error) noexcept;
  /// Call for a frame with a reference. True: on three recent frames, differences caused errors that
  /// transforms without a reference would not have. Another reference is then not taken for a while.
  bool differences_fail(const StreamMemory::Change& change, double tail, double error,
                        std::int64_t frame) noexcept;
  /// Call when the reference is given up.
  void given_up() noexcept { departures_ = failures_ = 0; }
  /// Call when a new template, and with it perhaps a new reference, is in force.
  void learned() noexcept { departures_ = 0; }

 private:
  static constexpr int kDepartures = 3;

  int tests_ = 0;                    ///< frames compared to find out whether frames repeat
  int departures_ = 0;               ///< decisions in a row that found a frame unlike its reference
  int failures_ = 0;                 ///< frames in close succession for which differences failed
  std::int64_t failed_at_ = 0;       ///< the last of these frames
  std::int64_t next_reference_ = 0;  ///< first frame that may become another reference
  std::int64_t next_decision_ = 0;
  int decision_step_ = 1;
};

/// Decides whether a template's support still holds the energy of its stream, and limits how often to check.
/// A share is a share of a frame's energy without f = 0. A sparse transform estimates the share outside the
/// support, Quality::residual². If that stays above its level since the template was learned, the frame is
/// worth a dense transform, which gives the exact share. If the support holds less than it did before, a new
/// template is worth learning. Both wait longer each time they did not help. In the long run, at most 1 frame
/// in 32 is transformed densely for this reason.
class SupportWatch {
 public:
  explicit SupportWatch(const TrackerOptions& options)
      : hold_(options.hold), patience_(options.patience), worth_asking_((1 + options.relearn_below) / 2) {}

  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  /// Call when the template is new. `share`: the share of a frame's energy in its support, or kUnknown.
  /// `estimates_follow`: the residuals of sparse transforms measure the same share. With a reference they
  /// measure only the change.
  void renewed(double share, bool estimates_follow) noexcept;
  /// Call when another plan for the same template, perhaps with a reference, is in force. Residuals then have
  /// another level.
  void replanned() noexcept;
  /// Call once per frame.
  void next_frame() noexcept;
  /// Records a frame's share in the support: the estimate of a sparse transform without a reference, and the
  /// exact value.
  void estimated(double share, double exact) noexcept {
    bias_ = share > 0 ? exact / share : kUnknown;
    compared_ = exact;
  }
  /// Records a sparse frame's estimates. True: for `patience` frames in a row, more energy was outside the
  /// support than before.
  bool suspects(double residual, double tail_energy) noexcept;
  /// Whether the next frames may keep the template although its support holds less than before. `share`:
  /// exact.
  bool bearable(double share) const noexcept;
  /// Whether an exact share in the support is below the share that it held before.
  bool falls_short(double share) const noexcept { return share < worth_asking_ * expected_; }
  /// Whether a dense transform because of a suspicion is allowed now. If more was lost since the last
  /// comparison, it does not wait, and one may be made in advance of what is affordable.
  bool may_compare() const noexcept {
    return worse_in_a_row_ >= patience_ ? affordable_ >= 0 : affordable_ >= 1 && compare_.over();
  }
  /// Call for a dense transform because of a suspicion. Later frames are compared with the levels after it.
  void suspicion_compared() noexcept;
  /// Records the exact share of a frame. True: the support holds less than before, and learning may be tried
  /// again. `missed`: errors are too large, so a small share outside the support matters if it has grown
  /// fourfold.
  bool outdated(double share, bool missed = false) noexcept;
  /// The share that the support held before, for messages.
  double expected() const noexcept { return expected_; }
  /// Call when learning begins. `share`: the share of the frame's energy in the support.
  void trying(double share) noexcept;
  /// Call when learning has ended. `helped`: the new template is better.
  void tried(bool helped) noexcept;
  /// Call instead of tried() if the result cannot be used, because the plan changed meanwhile: the support is
  /// expected to hold what it held before.
  void abandoned() noexcept;

 private:
  /// Number of frames whose median gives a level.
  static constexpr std::size_t kWindow = 8;
  struct Sample {
    double share = 0;  ///< outside the support
    double energy = 0;
  };

  /// Frames since an event, and how many must pass before the next.
  struct Wait {
    int since = 0, wait = 0;
    bool over() const noexcept { return since >= wait; }
  };

  void forget_level() noexcept;
  void note(const Sample& sample) noexcept;
  bool above(const Sample& sample) const noexcept;
  bool lost_more(double share, double before) const noexcept;

  int hold_, patience_;
  double worth_asking_;  ///< below this fraction of the share held before, a new support may be worthwhile
  double expected_ = kUnknown;  ///< share of the energy that the support holds while it is up to date

  double bias_ = kUnknown;  ///< exact share in the support over the estimated one
  /// The lowest median since a renewal, a new plan or suspicion_compared().
  Sample level_{kUnknown, kUnknown};
  Sample scatter_;   ///< median absolute deviation, averaged over windows
  int windows_ = 0;  ///< windows since then; limited
  std::array<Sample, kWindow> window_{};
  std::size_t in_window_ = 0;
  int above_in_a_row_ = 0;
  double compared_ = kUnknown;  ///< exact share at the last comparison
  int worse_in_a_row_ = 0;      ///< frames that seem to have lost more

  static constexpr double kBurst = 4;  ///< maximum of affordable_, after many frames without a suspicion
  double affordable_ = kBurst;         ///< dense transforms that are allowed now
  int longest_compare_wait_ = 0;
  /// Since the last dense transform because of a suspicion, and since learning was last tried.
  Wait compare_, try_;
  double tried_ = 1;              ///< share that the support held when learning was last tried
  bool trying_ = false;           ///< learning is in progress
  double before_try_ = kUnknown;  ///< expected_ before that
};

/// Decides whether a tracker's template or reference is stale, and how long to wait after useless renewals.
/// Compares relative errors with the requested accuracy and with their level after the last renewal. Renewals
/// in close succession do not help, so each doubles the wait for the next.
class Staleness {
 public:
  explicit Staleness(const TrackerOptions& options) : options_(options), hold_(options.hold) {}

  /// Call when the plan or its reference is new, because errors then have another level.
  void forget_level();
  /// Whether an error is above the accuracy, or too large for any use.
  bool unacceptable(double error);
  /// Whether an error is above TrackerOptions::drift times the level of the first frames.
  bool drifted(double error);
  /// Records an error. True: errors have been above their level for `patience` frames in a row, and learning
  /// is allowed again.
  bool suspect(double error);
  /// Explains the last of these functions that returned true. say() replaces it.
  const std::string& reason() const noexcept { return reason_; }
  void say(std::string reason) { reason_ = std::move(reason); }

  bool may_learn() const noexcept { return since_renewal_ >= hold_; }
  bool renewed_lately() const noexcept { return since_renewal_ < 2 * hold_; }
  /// Call for a frame that was compared and needed no renewal.
  void compared() noexcept { ++since_renewal_; }
  /// Call for a frame whose result is a sparse transform.
  void accepted() noexcept;
  void learned() noexcept { since_renewal_ = 0; }
  /// Call after a renewal. Returns how many frames to transform densely before the next sparse transform.
  int renewed(bool lately) noexcept;
  void try_again() noexcept { dense_in_a_row_ = 0; }

 private:
  void note_level(double error);

  TrackerOptions options_;
  std::vector<double> levels_;  ///< reported errors of the first frames after the last renewal
  double level_ = 0;            ///< their median; 0 while there are few
  std::string reason_;
  int since_renewal_ = 0;
  int above_in_a_row_ = 0;
  int dense_in_a_row_ = 0;
  int hold_;  ///< minimum number of frames between two renewals
};

/// Plans for the present template are made for this fraction of TrackerOptions::accuracy.
class PlanAccuracy {
 public:
  double fraction() const noexcept { return fraction_; }
  /// Call when the support is new; `fraction`: that of its plan.
  void renewed(double fraction) noexcept {
    fraction_ = fraction;
    possible_ = true;
  }
  /// A smaller fraction, if a plan for one may be possible.
  std::optional<double> smaller() const noexcept;
  void took(double fraction) noexcept { fraction_ = fraction; }
  void impossible() noexcept { possible_ = false; }

 private:
  double fraction_ = 1;
  bool possible_ = true;  ///< a plan for a smaller fraction may be possible
};

/// What is known about a frame that was transformed sparsely.
struct SparseFrame {
  std::int64_t number = 0;
  Calibration::Report report{0};
  double relative_error = 0;  ///< reported
  bool tones_lost = false;    ///< the support seems to miss tones that it held
  bool differencing = false;
  /// Frames are compared to find out whether they repeat.
  bool testing_repetition = false;
};

/// Decides what the statistics of frames call for. Transforms nothing, and never sees a frame or a plan.
struct TrackingPolicy {
  explicit TrackingPolicy(const TrackerOptions& options)
      : calibration(options.calibrate), watch(options), staleness(options) {}

  enum class Step {
    accept,           ///< the sparse spectrum is the result
    compare,          ///< with a dense transform, which may lead to a renewal
    compare_suspect,  ///< the same because of a suspicion; comparisons for this reason are rationed
  };
  struct Decision {
    Step step = Step::accept;
    double factor = 1;  ///< of reported errors
  };
  Decision after_sparse(const SparseFrame& frame);

  /// Whether a comparison may change the reference, or a drift of errors may lead to a renewal.
  bool may_decide(std::int64_t frame, bool differencing) const noexcept {
    return !differencing || reference.may_decide(frame);
  }
  /// Call at a frame from which another plan is in force. If templates change in close succession, the
  /// calibration continues, because each of them would start with frequent comparisons again.
  /// `may_continue`: the errors of the old plan and of this one are comparable.
  void restart_calibration(std::int64_t frame, bool may_continue);

  Calibration calibration;
  SupportWatch watch;
  Staleness staleness;
  ReferencePolicy reference;
  PlanAccuracy accuracy;
  int skip_sparse = 0;  ///< how many of the next frames get only a dense transform

 private:
  std::int64_t calibration_began_ = 0;  ///< frame at which the calibration started
};

}  // namespace sfft::detail
