// SPDX-License-Identifier: Apache-2.0
// Decides whether a template's support still holds the energy of its stream, and limits how often to check.
#pragma once

#include <array>
#include <cstddef>
#include <limits>

#include "sfft/tracker.hpp"

namespace sfft::detail {

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
    return worse_in_a_row_ >= patience_ ? affordable_ >= 0
                                        : affordable_ >= 1 && since_compared_ >= compare_wait_;
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
  /// Frames since the last dense transform because of a suspicion, and the wait for the next.
  int since_compared_ = 0, compare_wait_ = 0;
  int since_try_ = 0, try_wait_ = 0;  ///< the same for learning
  double tried_ = 1;                  ///< share that the support held when learning was last tried
  bool trying_ = false;               ///< learning is in progress
  double before_try_ = kUnknown;      ///< expected_ before that
};

}  // namespace sfft::detail
