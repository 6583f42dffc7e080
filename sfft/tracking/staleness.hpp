// SPDX-License-Identifier: Apache-2.0
// Decides whether a tracker's template or reference is stale, and how long to wait after useless renewals.
#pragma once

#include <string>
#include <vector>

#include "sfft/tracker.hpp"

namespace sfft::detail {

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

}  // namespace sfft::detail
