// SPDX-License-Identifier: Apache-2.0
// Registers a frame with the reference: shift, rotation, zoom and contrast, from the coefficients of both.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "video/guard/landmarks.hpp"
#include "video/guard/layout.hpp"
#include "video/guard/phase_match.hpp"
#include "video/guard/pose.hpp"
#include "video/guard/small_picture.hpp"

namespace sfft::video {

/// Shifts are where the scene went, in pixels: x to the right, y down.
struct Registration {
  double x = 0, y = 0;
  double standard_error = 0;  ///< of the larger of x and y, pixels
  double rotation = 0;        ///< radians, clockwise as seen
  double zoom = 0;            ///< 0.01: one per cent larger
  double rotation_error = 0, zoom_error = 0;
  double contrast = 1;   ///< factor on the structure
  double inliers = 0;    ///< share of the scene's structure that lies where this registration says, 0 to 1
  double coherence = 0;  ///< of the phases, -1 to 1: what is left of the scene's fine structure
  double still_coherence = 0;  ///< the same for a scene that has not moved
  double chance = 0;           ///< standard deviation of the coherence of random phases
  bool sure = false;           ///< the phases agree by far more than chance, or the landmarks agree
  bool turned = false;         ///< landmarks have seen the rotation and the zoom

  /// The pose as far as it is known well enough to look for landmarks there.
  Pose pose() const noexcept { return {x, y, turned ? rotation : 0, turned ? zoom : 0}; }
};

/// Values computed once per reference.
struct ReferencePicture {
  std::vector<std::complex<float>> values;  ///< coefficients of the whole support
  std::vector<std::complex<float>> low;     ///< coefficients of the low block
  std::vector<float> structure, levels;     ///< small pictures, without and with the lighting
  std::vector<float> by_x, by_y;            ///< gradients of the structure
};

/// Difference between two coherences, in units of chance, that is seldom accidental.
inline constexpr double kUnlikely = 4;

/// Whether the phases agree far less with a pose than with a scene that has not moved, by more than `chance`
/// would explain. Landmarks that resemble each other may lead to such a pose.
bool phases_contradict(double coherence, double still, double chance) noexcept;

class Registrar {
 public:
  explicit Registrar(const Layout& layout);

  ReferencePicture reference(std::span<const std::complex<float>> values);

  /// Finds the scene in a frame; `start` is a guess, such as the previous frame's registration. Call
  /// landmarks.begin() for the frame first. If the landmarks are not found near `start` as before, phases and
  /// small pictures search elsewhere. If they have been lost for long, that is done only in some frames.
  Registration locate(const ReferencePicture& reference, std::span<const std::complex<float>> values,
                      std::span<const float> weights, const Registration& start, Landmarks& landmarks);
  /// The small picture of the structure in the latest frame, moved to where the reference has it.
  const std::vector<float>& structure() const noexcept { return structure_; }
  std::span<const std::complex<float>> low() const noexcept { return low_; }
  SmallPictures& pictures() noexcept { return pictures_; }

  /// Points of small pictures this close to an edge mix both opposite edges.
  static constexpr int kRim = 4;

 private:
  struct Step {
    Registration found;
    double spread = 0;  ///< robust standard deviation of the residuals
    bool good = false;
  };
  Step step(const ReferencePicture& reference, double x, double y);
  Step fit(const ReferencePicture& reference, double x, double y);
  /// Whether the landmarks near `start` agree as well as they did where the latest search found the scene.
  bool followed(const Landmarks& landmarks, const Registration& start) const;
  /// `still`: coherence of the phases for a scene that has not moved.
  void search(const ReferencePicture& reference, PhaseAgreement& best, const Registration& start,
              double still, Landmarks& landmarks);
  /// Tries rotations and zooms that are too large for a Gauss-Newton step, wherever the picture's centre may
  /// be.
  void search_turns(const ReferencePicture& reference, const Pose& from, Landmarks& landmarks);
  struct Peak {
    float height = 0;
    Pose place;
  };
  /// Peaks of the correlation of a frame's small picture with the reference's, the highest first; at least
  /// one.
  std::vector<Peak> correlation_peaks(const ReferencePicture& reference,
                                      std::span<const std::complex<float>> low);

  const Layout layout_;
  SmallPictures pictures_;
  PhaseMatch phases_;
  std::vector<std::complex<float>> low_, turned_;
  std::vector<float> structure_, surface_, residuals_;
  /// State of the landmarks when the latest search found or confirmed the scene.
  struct Trust {
    double likeness = 0, share = 0;
    int age = 0;  ///< frames since
  };
  Trust trust_;
  int unsearched_ = 0;              ///< frames since the latest search, while the scene is lost
  int without_ = 0;                 ///< successive frames without landmarks
  std::vector<int> points_;         ///< every other point inside the rim
  std::vector<float> at_x_, at_y_;  ///< offsets of these points from the centre, pixels
};

}  // namespace sfft::video
