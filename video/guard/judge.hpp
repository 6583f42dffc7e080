// SPDX-License-Identifier: Apache-2.0
// From measurements to conditions: which of them a person would notice.
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

/// A level that follows what is usual: its mean size and how far it strays, both robust against bursts.
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
  double strength = 0;  ///< 1 at the threshold: the condition holds above
  double shift_px = std::numeric_limits<double>::quiet_NaN();
  double shift_x = std::numeric_limits<double>::quiet_NaN();
  double shift_y = std::numeric_limits<double>::quiet_NaN();
};

using Findings = std::array<Finding, kEventKinds>;

struct JudgeOptions {
  double sensitivity = 1;  ///< 2: half the thresholds
  Thresholds thresholds{};
};

/// Compares observations with thresholds that follow the noise of the scene. Copies continue independently.
class Judge {
 public:
  Judge(const JudgeOptions& options, double half_diagonal_px);

  /// Judges the next observation. Call learn() after it for frames in which nothing happens.
  Findings judge(const Observation& seen);
  /// Adds the observation to what is usual.
  void learn(const Observation& seen);
  /// The reference has followed the scene by this shift.
  void followed(const Pose& pose);
  /// The same after frames were missed: where the scene was before says nothing of how fast it drifts.
  void resume(const Pose& pose);

  /// The camera was on its way: what changed then says nothing of noise.
  void arrived() { freeze_ = FreezeDetector(options_.sensitivity, limits_); }

  /// An apparent move was none.
  void deny() noexcept { displaced_ = 0; }

  /// Whether a frame may change what is usual: one half way to an event may not.
  static bool usual(const Findings& findings, const Observation& seen) noexcept;

  /// Whether the scene is where the observation says, so that the reference may follow.
  bool believes(const Observation& seen) const;

  /// Frames since which the picture stands still, where it does, or moves again.
  std::int64_t still_frames() const noexcept { return freeze_.frames(); }
  /// What is seen was seen before, and is not what the camera sees.
  bool replayed() const noexcept { return freeze_.replayed(); }

  /// Frames since the light began to go up and down, where it does, and since it last turned round.
  std::int64_t flickering_frames() const noexcept { return flicker_.frames(); }
  std::int64_t steady_frames() const noexcept { return flicker_.steady_frames(); }

  /// Number of successive frames that show nothing but white.
  int white_frames() const noexcept { return white_; }

  /// Number of successive frames in which much of the scene is hidden.
  int covering_frames() const noexcept { return covering_ > 0 ? std::max(covering_, hidden_) : 0; }
  /// Something hides the scene that may be about to leave.
  bool passing() const noexcept { return passing_; }

 private:
  /// How many frames of the present rate last this many seconds, but at least the given number.
  int frames(double seconds, int min = 1) const noexcept { return frames_in(seconds, interval_s_, min); }
  /// What is usual and several times its spread, between `min` and `max` times that.
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
  /// Learns whether the scene has left the picture, be it as it was seen to leave or from one frame to the
  /// next.
  void look_for_leaving(const Observation& seen);
  Finding moved(const Observation& seen) const;
  double covered(const Observation& seen);
  /// Holds back what has come gradually, a lorry or a person who looks into the camera, until it stays.
  double lasting_cover(double strength, double changed);
  double defocused(const Observation& seen) const;

  JudgeOptions options_;
  Thresholds limits_;
  double half_diagonal_;
  double interval_s_ = 0.04;  ///< usual time between frames
  int learned_ = 0;
  Usual shift_, turn_, changed_, still_, sharpness_, detail_, coherence_, clipped_;
  FreezeDetector freeze_;
  Pose home_;                  ///< where the reference is, from its first place
  std::deque<Pose> places_;    ///< of the scene in the latest frames, from there, too
  int displaced_ = 0;          ///< latest frames that showed the scene far from where it was
  int since_displaced_ = 0;    ///< frames since the last of them
  int since_calm_ = 0;         ///< frames since most of the scene was seen in its place
  int elsewhere_ = 0;          ///< frames in a row without the scene, since it has left
  bool seen_leaving_ = false;  ///< it was seen on its way
  int white_ = 0;              ///< frames in a row that are white
  int since_dim_ = 0;          ///< frames since they were not half as white
  bool glare_ = false;         ///< it has come gradually
  int covering_ = 0;           ///< frames in a row in which much is hidden, be it by what passes
  int since_hidden_ = 0;       ///< frames since the last of them
  bool passing_ = false;       ///< it has come gradually, and may be about to leave
  int since_sudden_ = 0;       ///< frames since hardly anything was hidden, or much more than just before
  double changed_before_ = 0;  ///< share of the picture that was changed then
  double more_before_ = 0;     ///< by how much it had grown
  int hidden_ = 0;             ///< frames in a row in which what moves hides much of the picture
  Flicker flicker_;
};

/// 0.5 at the threshold, towards 1 above.
double confidence(double strength) noexcept;

}  // namespace sfft::video
