// SPDX-License-Identifier: Apache-2.0
// Learns how far a tracker's reported errors are off, from frames that are also transformed densely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sfft/tracking/change_shape.hpp"

namespace sfft::detail {

/// A plan's error estimate rests on a model of what changes from frame to frame. On a given stream the model
/// is off by a factor that hardly varies while errors are of one size and changes of one kind; a few
/// comparisons with the truth tell it. Comparisons are made soon after the plan is new, ever more rarely
/// after that, and again when a frame reports an error or shows a change unlike those that were compared,
/// lately or at all, or a comparison contradicts what was reported. Until then reports carry the spread over
/// kinds of change.
class Calibration {
 public:
  /// `interval`: frames between comparisons in the long run; 0: none.
  explicit Calibration(int interval) : interval_(interval) {}

  /// What is known of a frame without a comparison: the uncalibrated relative error, and its change.
  struct Report {
    double error;
    ChangeShape shape;
    Report(double relative_error, ChangeShape change = {}) : error(relative_error), shape(change) {}
  };

  /// Call when the plan has changed: what was learned says little about a new one.
  void restart();
  /// Call when the reference has changed: the same change has another shape now.
  void referenced() noexcept;
  /// The number of coefficients over which errors are summed: sums over few scatter.
  void coefficients(std::int64_t count) noexcept;
  /// Counts a frame; true: compare this one.
  bool due(const Report& report);
  /// Frames from here to the next scheduled comparison, that one included; a large number when none is
  /// scheduled or when it is overdue, because errors are negligible.
  std::int64_t frames_to_next() const noexcept;
  /// What a comparison found: ‖X̂ − X‖₂ and what was reported for it.
  struct KnownErrors {
    double true_l2, reported_l2;
  };
  /// The comparisons of the next `frames` frames: calls `take` with the number of each, counted from 0 on,
  /// until that returns false. `reported` gives what a frame reports, and `found` what its comparison found,
  /// as far as these are known. A comparison of which nothing is known finds what is expected.
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
  /// The comparison of this frame, which the caller requested, takes the place of the next scheduled one.
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
  std::int64_t frames_ = 0;       ///< frames since the plan was new
  std::int64_t next_ = 2;         ///< scheduled comparison
  std::int64_t step_ = 2;         ///< frames from it to the one after
  std::int64_t last_ = 0;         ///< frame of the last comparison
  double budget_ = kBudget;       ///< comparisons out of turn that may be made now; refills with time
  bool brought_forward_ = false;  ///< the comparison of this frame
  double scatter_ = 0;            ///< standard deviation of the log of a true error, for its few coefficients
  int elsewhere_ = 0;             ///< frames in a row unlike all that were compared
  std::vector<Comparison> known_;  ///< the last few, and the last of each kind of change
};

}  // namespace sfft::detail
