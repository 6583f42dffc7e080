// SPDX-License-Identifier: Apache-2.0
// Whether a template's support still holds the energy of its stream, and how often that may be asked.
#pragma once

#include <array>
#include <cstddef>
#include <limits>

#include "sfft/tracker.hpp"

namespace sfft::detail {

/// Shares are of a frame's energy without f = 0. A sparse transform estimates the share outside the support,
/// Spectrum::residual². Where it stays above the level that it had since the template was learned, the frame
/// is worth a dense transform, which gives the exact share. Where that is below what the support held before,
/// a new template is worth learning. Both wait longer after each time that did not help, and dense transforms
/// for this reason stay below 1 frame in 32 in the long run.
class SupportWatch {
 public:
  explicit SupportWatch(const TrackerOptions& options)
      : hold_(options.hold), patience_(options.patience), worth_asking_((1 + options.relearn_below) / 2) {}

  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  /// A new template, of which `share` of a frame's energy is known to lie in the support, or kUnknown.
  /// `estimates_follow`: the residuals of sparse transforms measure the same share. With a reference they
  /// measure only what changed.
  void renewed(double share, bool estimates_follow) noexcept;
  /// Another plan for the same template, perhaps with a reference: residuals have another level.
  void replanned() noexcept;
  /// Call once per frame.
  void pass() noexcept;
  /// The share in the support that a sparse transform without a reference estimates, and the exact one.
  void estimated(double share, double exact) noexcept { bias_ = share > 0 ? exact / share : kUnknown; }
  /// Takes note of a sparse frame's estimates. True: more energy lies outside the support than before,
  /// for several frames.
  bool suspects(double residual, double tail_energy) noexcept;
  /// The same for an exact share that the support holds, of a frame that needs no estimate.
  bool falls_short(double share) const noexcept { return share < worth_asking_ * expected_; }
  /// Whether a dense transform because of a suspicion is affordable now.
  bool may_look() const noexcept { return since_look_ >= look_wait_ && affordable_ >= 1; }
  /// A dense transform because of a suspicion. The levels after it are the ones to compare with.
  void looked() noexcept;
  /// Takes note of the exact share of a frame. True: the support holds less than it did, and it is time to
  /// try to learn. `missed`: errors are too large, so that even little energy outside matters.
  bool outdated(double share, bool missed = false) noexcept;
  /// The share that the support held before, for reasons.
  double expected() const noexcept { return expected_; }
  /// Learning has begun from a frame of which the support holds `share`.
  void trying(double share) noexcept;
  /// Whether the template that was learned is better.
  void tried(bool helped) noexcept;

 private:
  /// Frames whose median is one level.
  static constexpr std::size_t kWindow = 8;
  struct Sample {
    double share = 0;  ///< outside the support
    double energy = 0;
  };

  void forget_level() noexcept;
  void note(const Sample& sample) noexcept;
  bool above(const Sample& sample) const noexcept;

  int hold_, patience_;
  double worth_asking_;  ///< part of the share held before, below which a new support may be worth its while
  double expected_ = kUnknown;  ///< share of the energy that the support holds while it is up to date

  double bias_ = kUnknown;            ///< exact share in the support over an estimated one
  Sample level_{kUnknown, kUnknown};  ///< the lowest median since the template or its reference is new
  Sample scatter_;                    ///< median distance from the median, a mean over windows
  int windows_ = 0;                   ///< since then, a few at most
  std::array<Sample, kWindow> window_{};
  std::size_t in_window_ = 0;
  int above_in_a_row_ = 0;

  static constexpr double kBurst = 4;  ///< dense transforms in short order, after a long calm
  double affordable_ = kBurst;         ///< dense transforms that may be asked for now
  int longest_look_wait_ = 0;
  int since_look_ = 0, look_wait_ = 0;  ///< frames since the last one, and frames from one to the next
  int since_try_ = 0, try_wait_ = 0;    ///< the same for learning
  double tried_ = 1;                    ///< share that the support held when learning was last tried
};

}  // namespace sfft::detail
