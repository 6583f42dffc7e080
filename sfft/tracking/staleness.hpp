// SPDX-License-Identifier: Apache-2.0
// Whether what a tracker works with has grown stale, and how patient it is with renewals that do not help.
#pragma once

#include <string>
#include <vector>

#include "sfft/tracker.hpp"

namespace sfft::detail {

/// Judges relative errors against what was asked for and against their own level after the last renewal.
/// Renewals that follow each other closely do not help: each doubles the wait for the next.
class Staleness {
 public:
  explicit Staleness(const TrackerOptions& options) : options_(options), hold_(options.hold) {}

  /// The plan or its reference is new: errors have another level.
  void forget_level();
  /// Whether an error is too large for any frame.
  bool unacceptable(double error);
  /// Whether an error is above the level of the first frames.
  bool drifted(double error);
  /// Whether errors have risen above their level for good; takes note of this one.
  bool suspect(double error);
  /// What the last of these that was true found; `say` puts another finding in its place.
  const std::string& reason() const noexcept { return reason_; }
  void say(std::string reason) { reason_ = std::move(reason); }

  bool may_learn() const noexcept { return since_renewal_ >= hold_; }
  bool renewed_lately() const noexcept { return since_renewal_ < 2 * hold_; }
  /// A frame that was compared and needed no renewal; one that was answered by a sparse transform.
  void compared() noexcept { ++since_renewal_; }
  void accepted() noexcept;
  void learned() noexcept { since_renewal_ = 0; }
  /// After a renewal: the number of frames that are to be transformed densely before a sparse one is tried
  /// again.
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
  int hold_;  ///< frames between two renewals
};

}  // namespace sfft::detail
