// SPDX-License-Identifier: Apache-2.0
// Checks whether the picture has moved as a whole, or only its most prominent objects.
#pragma once

#include <cstdint>
#include <vector>

#include "sfft/types.hpp"
#include "video/guard/pose.hpp"

namespace sfft::video {

/// Landmarks are the strongest structure of a scene, which may be a few objects that people carry around. A
/// moving camera shifts everything alike, including the faint structure of walls and floors. Therefore
/// patches all over the picture vote on which explains them better: an earlier frame that is moved, or the
/// same frame unmoved.
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

  /// Keeps a copy of a frame in which nothing happens and whose scene has this pose.
  void remember(const SignalView& frame, const Pose& pose);
  bool ready() const noexcept { return !pixels_.empty(); }
  /// Makes later poses relative to this one.
  void follow(const Pose& pose) noexcept { place_ = place_ - pose; }
  /// `pose`: pose of the scene in this frame if it has moved; `before`: if it has not.
  Votes vote(const SignalView& frame, const Pose& pose, const Pose& before) const;

 private:
  double unit_;  ///< a 255th of the full range
  std::vector<std::uint16_t> pixels_;
  std::int64_t width_ = 0, height_ = 0;
  Pose place_;  ///< pose of the scene in the kept frame
};

}  // namespace sfft::video
