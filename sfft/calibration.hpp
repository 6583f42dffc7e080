// SPDX-License-Identifier: Apache-2.0
// How far a tracker's reported errors are off, learned from frames that are also transformed densely.
#pragma once

#include <cstdint>
#include <vector>

namespace sfft::detail {

/// A plan's account rests on a model of what changes from frame to frame. On a given stream the model is off
/// by a factor that hardly varies; a few comparisons with the truth tell it. Comparisons are made soon after
/// the plan is new, ever more rarely after that, and again when the reported errors settle at another level.
class Calibration {
 public:
  /// `interval`: frames between comparisons in the long run; 0: none.
  explicit Calibration(int interval) : interval_(interval) {}

  /// The plan is another one: what was learned says little about it.
  void restart();
  /// Counts a frame whose uncalibrated relative error is `reported`; true: compare this one.
  bool due(double reported);
  /// The outcome of a comparison, in ‖X̂ − X‖₂.
  void compared(double true_l2, double reported_l2, double reported);
  /// What reported errors are to be multiplied by.
  double factor() const noexcept { return factor_; }

 private:
  int interval_;
  std::int64_t frames_ = 0;     ///< since the plan was new
  std::int64_t next_ = 2;       ///< scheduled comparison
  std::int64_t last_ = 0;       ///< comparison made
  std::int64_t least_gap_ = 8;  ///< to one out of turn; doubles with each
  double level_ = 0;            ///< reported at the last comparison
  int elsewhere_ = 0;           ///< frames in a row at another level
  std::vector<double> ratios_;  ///< true over reported errors of the last few comparisons
  double factor_ = 1;
};

}  // namespace sfft::detail
