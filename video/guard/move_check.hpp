// SPDX-License-Identifier: Apache-2.0
// Whether the picture has moved as a whole, or only what stood out in it.
#pragma once

#include <cstdint>
#include <vector>

#include "sfft/types.hpp"
#include "video/guard/pose.hpp"

namespace sfft::video {

/// Landmarks are the strongest structure of a scene, which may be a few things that people carry around. A
/// camera that moves shifts everything alike, the faint structure of walls and floors, too. So patches all
/// over the picture say which explains them better: a frame from before, moved, or the same frame as it is.
class MoveCheck {
 public:
  /// `full`: the largest value that samples take.
  explicit MoveCheck(double full) : unit_(full / 255) {}

  /// Numbers of patches that support either explanation.
  struct Votes {
    int moved = 0, stayed = 0;
    /// Whether enough patches have stayed to rule out a move of the camera.
    bool deny() const noexcept;
  };

  /// Takes a frame in which nothing happens, whose scene has this pose.
  void remember(const SignalView& frame, const Pose& pose);
  bool ready() const noexcept { return !pixels_.empty(); }
  /// Later poses count from this one.
  void follow(const Pose& pose) noexcept { place_ = place_ - pose; }
  /// `pose`: of the scene in this frame, if it has moved; `before`: if it has not.
  Votes vote(const SignalView& frame, const Pose& pose, const Pose& before) const;

 private:
  double unit_;  ///< a 255th of the full range
  std::vector<std::uint16_t> pixels_;
  std::int64_t width_ = 0, height_ = 0;
  Pose place_;  ///< of the scene in the frame that is kept
};

}  // namespace sfft::video
