// SPDX-License-Identifier: Apache-2.0
// Learns correction factors for a tracker's reported errors, from frames that are also transformed densely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sfft/tracking/change_shape.hpp"

namespace sfft::detail {

/// A plan's error estimate rests on a model of what changes from frame to frame. On a given stream, the model
/// is off by a factor that hardly varies while errors have one level and changes are of one kind. A few
/// comparisons with exact spectra determine it. The first comparisons come soon after a new plan, and the
/// interval then grows. A frame is also compared if its reported error or its kind of change differs from
/// those of all known or of recent comparisons. A comparison that contradicts its report shortens the
/// interval. If nothing similar was compared, reports are multiplied by a factor that suits most kinds of
/// change.
class Calibration {
 public:
  /// `interval`: frames between comparisons in the long run; 0: no comparisons.
  explicit Calibration(int interval) : interval_(interval) {}

  /// What is known about a frame without a comparison: its uncalibrated relative error and shape of change.
  struct Report {
    double error;
    ChangeShape shape;
    Report(double relative_error, ChangeShape change = {}) : error(relative_error), shape(change) {}
  };

  /// Call when the plan has changed: comparisons with the old plan say little about a new one.
  void restart();
  /// Call when the reference has changed: the same kind of change now has another shape.
  void referenced() noexcept;
  /// Sets the number of coefficients over which errors are summed. Sums over few coefficients scatter.
  void coefficients(std::int64_t count) noexcept;
  /// Counts a frame. True: compare this one.
  bool due(const Report& report);
  /// Frames up to and including the next scheduled comparison. A large number if none is scheduled, or if it
  /// is overdue because errors are negligible.
  std::int64_t frames_to_next() const noexcept;
  /// What a comparison found: the true ‖X̂ − X‖₂ and the reported one.
  struct KnownErrors {
    double true_l2, reported_l2;
  };
  /// Predicts the comparisons of the next `frames` frames. Calls `take` with the number of each compared
  /// frame, counted from 0, until `take` returns false. `reported` returns a frame's report, and `found` the
  /// result of its comparison, if they are known. A comparison with an unknown result is assumed to find the
  /// expected error.
  template <class Reported, class Finding, class Take>
  void expected(std::size_t frames, const Reported& reported, const Finding& found, const Take& take) const {
    Calibration ahead = *this;
    for (std::size_t i = 0; i < frames; ++i) {
      const std::optional<Report> report = reported(i);
      if (!(report ? ahead.due(*report) : ahead.scheduled())) continue;
      if (!take(i)) return;
      if (const std::optional<KnownErrors> known = report ? found(i) : std::nullopt)
        ahead.compared(known->true_l2, known->reported_l2, *report);
      else
        ahead.agreed(report.value_or(Report(0)));
    }
  }
  /// The caller requested the comparison of this frame; it replaces the next scheduled one.
  void bring_forward() noexcept;
  /// Records the outcome of a comparison, in ‖X̂ − X‖₂.
  void compared(double true_l2, double reported_l2, const Report& report);
  /// The factor by which to multiply a reported relative error.
  double factor(const Report& report) const;

 private:
  /// A frame whose error is known.
  struct Comparison {
    double level;  ///< log of the relative error reported, uncalibrated
    ChangeShape shape;
    double log_ratio;  ///< log of the true error over the reported one

    explicit Comparison(const Report& report, double found = 0);
  };

  bool scheduled() noexcept;
  void agreed(const Report& report);
  std::int64_t longer(std::int64_t step) const noexcept;
  double distance(const Comparison& a, const Comparison& b) const noexcept;
  double scatter(const Comparison& frame) const;
  double nearest(const Comparison& frame, std::size_t count) const;
  double min(const Comparison& frame) const;
  void remember(const Comparison& comparison);

  static constexpr double kBudget = 5;
  int interval_;
  std::int64_t frames_ = 0;        ///< frames since the plan was new
  std::int64_t next_ = 2;          ///< frame of the next scheduled comparison
  std::int64_t step_ = 2;          ///< frames from that to the following one
  std::int64_t last_ = 0;          ///< frame of the last comparison
  double budget_ = kBudget;        ///< unscheduled comparisons that may be made now; refills with time
  bool brought_forward_ = false;   ///< the comparison of this frame was requested by the caller
  double scatter_ = 0;             ///< standard deviation of the log of a true error over k coefficients
  int unlike_in_a_row_ = 0;        ///< consecutive frames unlike all recent comparisons
  std::vector<Comparison> known_;  ///< the most recent ones, and the last ones of each kind of change
};

}  // namespace sfft::detail
