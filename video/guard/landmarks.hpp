// SPDX-License-Identifier: Apache-2.0
// Landmarks of the scene: where they are in a frame, whether they are present at all, and how much of their
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

/// What the landmarks say about one frame.
struct LandmarkReport {
  bool located = false;  ///< enough of them agree on one pose; otherwise it and its error are meaningless
  Pose pose;             ///< its rotation and zoom are 0 if they are not significant
  double standard_error = 0;                 ///< of the larger of x and y
  int count = 0;                             ///< usable landmarks inside the frame
  std::array<int, kTiles> usable{}, gone{};  ///< per tile: usable landmarks, and those missing
  /// Per tile: contrast of those present, relative to the reference's; 0 if there are none.
  std::array<double, kTiles> contrast{};
  double lost = 0;  ///< share of all landmarks that are missing, 0 to 1
  /// Whether missing landmarks lie next to each other: 1 if all their neighbours are missing as well, 0 if as
  /// many of these are missing as of all landmarks.
  double clustered = 1;
  /// Amplitude of their fine detail relative to the reference's, to that of their coarse structure and to
  /// what is usual. Noise does not contribute. 1 if unknown.
  double fine = 1;
  double fine_error = 1;
  /// Share of all landmarks that each show most of their fine detail, 0 to 1; a blur leaves none like that.
  double crisp = 0;
};

/// Landmarks of one scene. Copies continue independently.
class Landmarks {
 public:
  Landmarks() = default;
  /// Takes the best patch of each grid cell in `scene`, row-major grey levels of `width` x `height` pixels.
  /// `full`: the largest grey level.
  Landmarks(std::span<const float> scene, std::int64_t width, std::int64_t height, double full);

  /// Begins with the next frame, of 8 or 16 bits and the scene's size. The samples have to stay valid until
  /// finish().
  void begin(const SignalView& frame);
  /// Searches near a guess, a pose relative to the reference. Returns true if the landmarks are found so
  /// clearly that no other guess is needed. `patient`: searches even if nothing there resembles the scene at
  /// first.
  bool try_at(const Pose& guess, bool patient = false);
  /// Mean correlation of the landmarks at a pose, relative to the usual; does not change the best guess.
  double likeness_at(const Pose& guess);
  /// The best pose to which the guesses have led.
  const Pose& pose() const noexcept { return best_.pose; }
  /// Whether enough landmarks agree on it.
  bool agreed() const noexcept;
  bool converged() const noexcept { return best_.converged; }
  /// At that pose: mean correlation relative to the usual, and the share of landmarks that are present.
  double likeness() const noexcept { return best_.likeness; }
  double share() const noexcept { return best_.share; }
  /// Result of the best guess.
  LandmarkReport finish();

  /// Makes later poses relative to the scene's pose in the latest frame.
  void follow();
  /// Moves the patches towards those of the latest frame by a share of the difference.
  void adapt(double share);
  /// Sets the pose, relative to the reference, of the scene in the frame that the landmarks were taken from.
  void rebase(const Pose& pose) {
    renewed_ = true;
    home_ = Pose{} - pose;
  }
  /// Whether less than half of the landmarks are reliable, so that new ones should be taken.
  bool worn() const noexcept;
  /// Learns from the latest frame which landmarks are reliable. `min_share`: weight of a frame after the
  /// first ones.
  void note_usual(double min_share = 0.02);

 private:
  struct Agreement {
    Pose pose;
    double standard_error = 0;
    double share = 0;     ///< share of the landmarks that are present
    double likeness = 0;  ///< mean correlation relative to the usual
    int count = 0, agreeing = 0;
    bool converged = false;
    /// Ranks poses: the landmarks resemble the scene there, and agree with each other.
    double score() const noexcept { return likeness + agreeing / std::max(1.0, static_cast<double>(count)); }
  };

  /// Medians over the visible landmarks of their gain and of the energy of a patch's noise.
  struct Visibility {
    double gain = 1, noise = 0;
  };

  /// Sharpness of landmarks: the ratio of the amplitudes of fine and of coarse structure.
  struct Fineness {
    double value = 1, error = 1;
  };
  /// Normal equations of seen = a * coarse + b * (expected - coarse).
  struct Amplitudes {
    double cc = 0, cf = 0, ff = 0, sc = 0, sf = 0, own = 0, samples = 0;
    void add(const Amplitudes& other, double weight) noexcept;
    std::optional<Fineness> fineness() const noexcept;  ///< none if they do not determine it
  };
  /// The median over the tiles, because a clock in the picture stays sharp whatever the lens does.
  static std::optional<Fineness> usual_fineness(const std::array<Amplitudes, kTiles>& tiles);

  Visibility visibility() const;
  /// LandmarkReport::clustered of the landmarks that count.
  double clustering(std::span<const Landmark* const> there, std::span<const Landmark* const> gone) const;
  void measure(const Pose& guess);
  Agreement climb(Pose pose, bool patient);

  std::vector<Landmark> landmarks_;
  std::int64_t width_ = 0, height_ = 0;
  double unit_ = 1;   ///< a 255th of the full range
  double reach_ = 1;  ///< half a diagonal, pixels
  Pose home_;         ///< pose of the reference in the landmarks' coordinates
  Pose at_;           ///< pose of the latest frame relative to the reference
  double fine_ = 1, usual_fine_ = 1;
  bool renewed_ = false;  ///< taken from a single frame, with its noise
  int noted_ = 0;         ///< usual frames so far
  bool located_ = false, current_ = false;
  Agreement best_;
  std::optional<SignalView> frame_;
};

}  // namespace sfft::video
