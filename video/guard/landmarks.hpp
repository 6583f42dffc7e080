// SPDX-License-Identifier: Apache-2.0
// Landmarks of the scene: where they are in a frame, whether they are there at all, and how much of their
// fine detail is left.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sfft/types.hpp"
#include "video/guard/common_move.hpp"
#include "video/guard/landmark.hpp"
#include "video/guard/pixel_rows.hpp"
#include "video/guard/pose.hpp"

namespace sfft::video {

/// What the landmarks say of one frame.
struct LandmarkReport {
  bool located = false;       ///< enough of them agree on one pose; otherwise it and its error are void
  Pose pose;                  ///< its rotation and zoom are 0 where they do not show
  double standard_error = 0;  ///< of the larger of x and y
  int count = 0;              ///< usable landmarks inside the frame
  std::array<int, kTiles> usable{}, gone{};  ///< of each tile: usable landmarks, and those that are not there
  std::array<double, kTiles> contrast{};  ///< of those that are there, over the reference's; 0 where none is
  double lost = 0;                        ///< share of all that are not there, 0 to 1
  /// Amplitude of their fine detail over the reference's, relative to that of their coarse structure and to
  /// what is usual; noise has no part in it. 1 where it is not known.
  double fine = 1;
  double fine_error = 1;
  /// Share of all that by themselves show most of their fine detail, 0 to 1: no blur leaves them so.
  double crisp = 0;
};

/// Landmarks of one scene. Copies continue independently.
class Landmarks {
 public:
  Landmarks() = default;
  /// Takes the best patch of each grid cell in `scene`, row-major grey levels of `width` x `height` pixels.
  /// `full`: the largest grey level.
  Landmarks(std::span<const float> scene, std::int64_t width, std::int64_t height, double full);

  /// Begins with the next frame, of 8 or 16 bits and the scene's size; it has to stay until finish().
  void begin(const SignalView& frame);
  /// Looks near a guess, a pose since the reference. True: the landmarks are there, and no other guess is
  /// needed. `patient`: even if nothing there looks like the scene at first.
  bool try_at(const Pose& guess, bool patient = false);
  /// Mean correlation of landmarks there, of the usual; leaves the guesses as they are.
  double likeness_at(const Pose& guess);
  /// The pose that the latest guesses led to.
  const Pose& pose() const noexcept { return best_.pose; }
  /// Whether enough landmarks agree on it.
  bool agreed() const noexcept;
  bool converged() const noexcept { return best_.converged; }
  /// Mean correlation there, of the usual, and the share of the landmarks that are there.
  double likeness() const noexcept { return best_.likeness; }
  double share() const noexcept { return best_.share; }
  /// Result of the best guess.
  LandmarkReport finish();

  /// Later shifts count from the scene's place in the latest frame.
  void follow();
  /// Moves the patches towards those of the latest frame by a share of the difference.
  void adapt(double share);
  /// Later poses are counted as if the scene had this one in the frame that the landmarks were taken from.
  void rebase(const Pose& pose) {
    renewed_ = true;
    home_ = Pose{} - pose;
  }
  /// Whether fewer landmarks are reliable than such a scene offers, so that new ones should be taken.
  bool worn() const noexcept;
  /// Learns from the latest frame which landmarks are reliable; after the first frames it counts this share.
  void note_usual(double min_share = 0.02);

 private:
  struct Agreement {
    Pose pose;
    double standard_error = 0;
    double share = 0;     ///< of the landmarks that are there
    double likeness = 0;  ///< mean correlation, of the usual
    int count = 0, agreeing = 0;
    bool converged = false;
    /// Which of two places is the better one: they look alike, and know it from each other.
    double score() const noexcept { return likeness + agreeing / std::max(1.0, static_cast<double>(count)); }
  };

  /// Medians over the visible landmarks of their gains and of their noise, as energies of patches.
  struct Visibility {
    double gain = 1, noise = 0;
  };

  /// Sharpness of landmarks: the amplitude of fine structure over that of coarse structure.
  struct Fineness {
    double value = 1, error = 1;
  };
  /// Normal equations of seen = a * coarse + b * (expected - coarse).
  struct Amplitudes {
    double cc = 0, cf = 0, ff = 0, sc = 0, sf = 0, own = 0, samples = 0;
    void add(const Amplitudes& other, double weight) noexcept;
    std::optional<Fineness> fineness() const noexcept;  ///< none where they do not tell
  };
  /// The median of the tiles: a clock in the picture stays sharp whatever the lens does.
  static std::optional<Fineness> usual_fineness(const std::array<Amplitudes, kTiles>& tiles);

  Visibility visibility() const;
  void measure(const Pose& guess);
  Agreement climb(Pose pose, bool patient);

  std::vector<Landmark> landmarks_;
  std::int64_t width_ = 0, height_ = 0;
  double unit_ = 1;   ///< a 255th of the full range
  double reach_ = 1;  ///< half a diagonal, pixels
  Pose home_;         ///< of the reference in the scene's coordinates
  Pose at_;           ///< of the latest frame, from there
  double fine_ = 1, usual_fine_ = 1;
  bool renewed_ = false;  ///< taken from one frame, noise and all
  int noted_ = 0;         ///< usual frames until now
  bool located_ = false, current_ = false;
  Agreement best_;
  std::optional<SignalView> frame_;
};

}  // namespace sfft::video
