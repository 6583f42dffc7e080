// SPDX-License-Identifier: Apache-2.0
// What a tracker decides from the statistics of its frames.
#pragma once

#include <cstdint>
#include <optional>

#include "sfft/tracking/calibration.hpp"
#include "sfft/tracking/reference_policy.hpp"
#include "sfft/tracking/staleness.hpp"
#include "sfft/tracking/support_watch.hpp"

namespace sfft::detail {

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
