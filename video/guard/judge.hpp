// SPDX-License-Identifier: Apache-2.0
// Decides from the measurements which conditions hold: those that a person would notice.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <string>

#include "video/events/event.hpp"
#include "video/events/pace.hpp"
#include "video/events/thresholds.hpp"
#include "video/guard/flicker.hpp"
#include "video/guard/freeze_detector.hpp"
#include "video/guard/observation.hpp"

namespace sfft::video {

/// Tracks the usual value of a measurement and its spread, both robust against bursts.
class Usual {
 public:
  explicit Usual(double first, double first_spread, double min_spread)
      : level_(first), spread_(first_spread), min_(min_spread) {}
  void add(double value, double share) noexcept;
  double level() const noexcept { return level_; }
  double spread() const noexcept { return spread_; }

 private:
  double level_, spread_, min_;
};

/// One condition in one frame.
struct Finding {
  double strength = 0;  ///< 1 at the threshold; above it the condition holds
  double shift_px = std::numeric_limits<double>::quiet_NaN();
  double shift_x = std::numeric_limits<double>::quiet_NaN();
  double shift_y = std::numeric_limits<double>::quiet_NaN();
};

using Findings = std::array<Finding, kEventKinds>;

struct JudgeOptions {
  double sensitivity = 1;  ///< 2: half the thresholds
  Thresholds thresholds{};
};

/// Compares observations with thresholds that adapt to the noise of the scene. Copies continue independently.
class Judge {
 public:
  Judge(const JudgeOptions& options, double half_diagonal_px);

  /// Judges the next observation. Call learn() after it for frames in which nothing happens.
  Findings judge(const Observation& seen);
  /// Adds the observation to what is usual.
  void learn(const Observation& seen);
  /// Call this when the reference has followed the scene by this pose.
  void followed(const Pose& pose);
  /// The same after missed frames: earlier poses then say nothing about the speed of a drift.
  void resume(const Pose& pose);

  /// Call this when a camera on patrol has arrived: changes on the way say nothing about noise.
  void arrived() { freeze_ = FreezeDetector(options_.sensitivity, limits_); }

  /// Call this when an apparent move was rejected.
  void deny() noexcept { displaced_ = 0; }
  /// Call this when the reference has accepted what is seen as the scene in its place.
  void accepted() noexcept { swings_.clear(); }

  /// Whether a frame may change what is usual. A frame that is more than half way to an event may not.
  static bool usual(const Findings& findings, const Observation& seen) noexcept;

  /// Whether the scene is where the observation says, so that the reference may follow.
  bool believes(const Observation& seen) const;

  /// Frames since the picture froze, or since it began to move again.
  std::int64_t still_frames() const noexcept { return freeze_.frames(); }
  /// Whether a replay is shown instead of the live picture.
  bool replayed() const noexcept { return freeze_.replayed(); }

  /// Frames since flicker began, and since the light last reversed.
  std::int64_t flickering_frames() const noexcept { return flicker_.frames(); }
  std::int64_t steady_frames() const noexcept { return flicker_.steady_frames(); }

  /// Number of successive frames that show nothing but white.
  int white_frames() const noexcept { return white_; }

  /// Number of successive frames in which much of the scene is hidden.
  int covering_frames() const noexcept { return covering_ > 0 ? std::max(covering_, hidden_) : 0; }
  /// Whether something hides the scene but may be about to leave.
  bool passing() const noexcept { return passing_; }
  /// Whether what hides the scene is a net, such as a spider's web, that has come gradually: between its
  /// threads the scene is seen everywhere.
  bool net(const Observation& seen) const noexcept;

 private:
  /// Number of frames in this time at the present rate, but at least `min`.
  int frames(double seconds, int min = 1) const noexcept { return frames_in(seconds, interval_s_, min); }
  /// Whether `lasts` is longer than `seconds`, by half a frame at least.
  bool longer(double lasts, double seconds) const noexcept { return lasts > seconds + 0.5 * interval_s_; }
  /// A threshold of the usual value plus several times its spread. It is at least `min`, divided by the
  /// sensitivity, and at most `max` times that.
  double limit(double min, double max, const Usual& usual) const;
  /// Neither phases nor amplitudes of the scene are left.
  bool gone(const Observation& seen) const;
  /// Hardly anything is left of the landmarks' fine structure.
  bool blurred(const Observation& seen) const;
  /// Neither landmarks nor coarse structure are left, however bright the picture.
  bool plain(const Observation& seen) const;
  /// Phases or landmarks locate the scene, and nothing contradicts them.
  bool phases_agree(const Observation& seen) const;
  bool landmarks_know(const Observation& seen) const;
  bool another_scene(const Observation& seen) const;
  /// Detects that the scene has left the picture, either seen on its way or from one frame to the next.
  void look_for_leaving(const Observation& seen);
  Finding moved(const Observation& seen) const;
  /// Whether the scene, or what is seen of it, swings to and fro, and a move to where it is now is the next
  /// swing.
  bool swings(const Observation& seen, const Finding& move) const;
  /// Pose of the scene in a frame, relative to the first reference.
  Pose place(const Observation& seen) const noexcept;
  double covered(const Observation& seen);
  /// Holds back a cover that came gradually, such as a lorry or a person who looks into the camera, until it
  /// has stayed.
  double lasting_cover(double strength, double changed, double elapsed_s);
  double defocused(const Observation& seen) const;

  JudgeOptions options_;
  Thresholds limits_;
  double half_diagonal_;
  double interval_s_ = 0.04;  ///< usual time between frames
  int learned_ = 0;
  Usual shift_, turn_, changed_, still_, sharpness_, detail_, coherence_, clipped_;
  FreezeDetector freeze_;
  Pose home_;                  ///< pose of the reference relative to its first one
  std::deque<Pose> places_;    ///< poses of the scene in the latest frames, relative to the same
  std::deque<Pose> swings_;    ///< the same over a longer time, whatever they mean
  int displaced_ = 0;          ///< recent frames that showed the scene far from where it was
  int since_displaced_ = 0;    ///< frames since the last of them
  int since_calm_ = 0;         ///< frames since most of the scene was seen in its place
  int elsewhere_ = 0;          ///< successive frames without the scene since it left
  bool seen_leaving_ = false;  ///< the scene was seen on its way out
  int white_ = 0;              ///< successive white frames
  int since_dim_ = 0;          ///< frames since the share of white pixels was below half its threshold
  bool glare_ = false;         ///< the white came gradually
  int covering_ = 0;           ///< successive frames in which much is hidden, also by passing objects
  int since_hidden_ = 0;       ///< frames since the last of them
  bool passing_ = false;       ///< the cover came gradually and may be about to leave
  int since_sudden_ = 0;       ///< frames since hardly anything was hidden, or much more than just before
  int since_leap_ = 1 << 20;   ///< frames since much was hidden from one frame to the next
  double changed_before_ = 0;  ///< Observation::changed in the previous frame
  double more_before_ = 0;     ///< its growth in the previous frame
  int hidden_ = 0;             ///< successive frames in which much is hidden when moving objects count
  /// The same in seconds: the rate may change meanwhile, as that of a padded stream whose cover hardly
  /// changes.
  double covering_s_ = 0, hidden_s_ = 0;
  Flicker flicker_;
};

/// 0.5 at the threshold, and towards 1 above it.
double confidence(double strength) noexcept;

}  // namespace sfft::video
