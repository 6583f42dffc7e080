// SPDX-License-Identifier: Apache-2.0
// Landmarks of the scene: where they are in a frame, whether they are there at all, and how much of their
// fine detail is left.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sfft/types.hpp"
#include "video/guard/landmark.hpp"
#include "video/guard/pixel_rows.hpp"

namespace sfft::video {

/// What the landmarks say of one frame. Shifts are where the scene went, in pixels: x to the right, y down.
struct LandmarkReport {
  bool located = false;  ///< enough of them agree on one shift; otherwise x, y and their error are void
  double x = 0, y = 0;
  double standard_error = 0;                 ///< of the larger of both
  int count = 0;                             ///< usable landmarks inside the frame
  std::array<int, kTiles> usable{}, gone{};  ///< of each tile: usable landmarks, and those that are not there
  double lost = 0;                           ///< share of all that are not there, 0 to 1
  /// Amplitude of their fine detail over the reference's, relative to that of their coarse structure and to
  /// what is usual; noise has no part in it. 1 where it is not known.
  double fine = 1;
  double fine_error = 1;
};

/// Landmarks of one scene. Copies continue independently.
class Landmarks {
 public:
  Landmarks() = default;
  /// The best patch of each cell of a grid in `scene`, row-major grey levels of `width` x `height` pixels.
  /// `full`: the largest grey level.
  Landmarks(std::span<const float> scene, std::int64_t width, std::int64_t height, double full);

  /// Begins with the next frame, of 8 or 16 bits and the scene's size; it has to stay until finish().
  void begin(const SignalView& frame);
  /// Looks near a guess, a shift since the reference in pixels. True: the landmarks are there, and no other
  /// guess is needed.
  /// `patient`: even if nothing there looks like the scene at first.
  bool try_at(double x, double y, bool patient = false);
  /// Where the latest guesses have led to.
  double x() const noexcept { return best_.x; }
  double y() const noexcept { return best_.y; }
  /// What the best guess has shown.
  LandmarkReport finish();

  /// Later shifts count from where the latest frame has the scene.
  void follow();
  /// Moves the patches towards those of the latest frame by a share of the difference.
  void adapt(double share);
  /// Later shifts are counted as if the scene were at (x, y) in the frame that the landmarks were taken from.
  void rebase(double x, double y) {
    renewed_ = true;
    home_x_ = -x;
    home_y_ = -y;
  }
  /// Fewer landmarks can be relied on than a scene like this one has: take new ones.
  bool worn() const noexcept;
  /// Learns from the latest frame which landmarks can be relied on.
  void note_usual();

 private:
  struct Agreement {
    double x = 0, y = 0, standard_error = 0;
    double share = 0;     ///< of the landmarks that are there
    double likeness = 0;  ///< mean correlation, of the usual
    int count = 0, agreeing = 0;
    bool converged = false;
  };

  /// Of the landmarks that are there: the medians of their gains and of their noise, as energies of patches.
  struct Visibility {
    double gain = 1, noise = 0;
  };

  Visibility visibility() const;
  void measure(double x, double y);
  Agreement climb(double x, double y, bool patient);
  bool usable(const Landmark& landmark) const noexcept;
  bool there(const Landmark& landmark) const noexcept;

  std::vector<Landmark> landmarks_;
  std::int64_t width_ = 0, height_ = 0;
  double unit_ = 1;                 ///< a 255th of the full range
  double home_x_ = 0, home_y_ = 0;  ///< of the reference in the scene's coordinates
  double at_x_ = 0, at_y_ = 0;      ///< of the latest frame, from there
  double fine_ = 1, usual_fine_ = 1;
  bool renewed_ = false;  ///< taken from one frame, noise and all
  int noted_ = 0;         ///< usual frames until now
  bool located_ = false, current_ = false;
  Agreement best_;
  std::optional<SignalView> frame_;
};

}  // namespace sfft::video
