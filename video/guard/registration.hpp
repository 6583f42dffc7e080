// SPDX-License-Identifier: Apache-2.0
// Where the scene of a reference lies in a frame: shift, rotation, zoom and contrast, from the coefficients
// of both.
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
  double standard_error = 0;  ///< of the larger of both
  double rotation = 0;        ///< radians, clockwise as seen
  double zoom = 0;            ///< 0.01: one per cent larger
  double rotation_error = 0, zoom_error = 0;
  double contrast = 1;         ///< factor on the structure
  double inliers = 0;          ///< share of the scene's structure that lies where this says, 0 to 1
  double coherence = 0;        ///< of the phases, -1 to 1: what is left of the scene's fine structure
  double still_coherence = 0;  ///< the same for a scene that has not moved
  double chance = 0;           ///< what random phases would agree by
  bool sure = false;           ///< the phases agree by far more than chance, or the landmarks
  bool turned = false;         ///< landmarks have seen the rotation and the zoom

  /// The pose as far as it is known well enough to look for landmarks there.
  Pose pose() const noexcept { return {x, y, turned ? rotation : 0, turned ? zoom : 0}; }
};

/// Values computed once per reference.
struct ReferencePicture {
  std::vector<std::complex<float>> values;  ///< of the whole support
  std::vector<std::complex<float>> low;     ///< of the low block
  std::vector<float> structure, levels;     ///< small pictures, without and with the lighting
  std::vector<float> by_x, by_y;            ///< gradients of the structure
};

/// Difference between two coherences, in units of chance, that is seldom an accident.
inline constexpr double kUnlikely = 4;

/// Phases agree far less with a place, or a move, than with a scene that has not moved, and by more than
/// `chance` would explain. Landmarks that look alike may lead there.
bool phases_contradict(double coherence, double still, double chance) noexcept;

class Registrar {
 public:
  explicit Registrar(const Layout& layout);

  ReferencePicture reference(std::span<const std::complex<float>> values);

  /// Finds the scene in a frame; `start` is a guess, such as the previous frame's. If the landmarks, which
  /// have begun with the frame, are not there as they were before, phases and small pictures look elsewhere;
  /// if they have been nowhere for long, not in every frame.
  Registration locate(const ReferencePicture& reference, std::span<const std::complex<float>> values,
                      std::span<const float> weights, const Registration& start, Landmarks& landmarks);
  /// The small picture of the structure in the latest frame, moved to where the reference has it.
  const std::vector<float>& structure() const noexcept { return structure_; }
  std::span<const std::complex<float>> low() const noexcept { return low_; }
  SmallPictures& pictures() noexcept { return pictures_; }

  /// Points of small pictures this close to the rim show both rims mixed.
  static constexpr int kRim = 4;

 private:
  struct Step {
    Registration found;
    double spread = 0;  ///< robust standard deviation of the residuals
    bool good = false;
  };
  Step step(const ReferencePicture& reference, double x, double y);
  Step fit(const ReferencePicture& reference, double x, double y);
  /// Whether the landmarks agree, near the start, as well as where the latest search has found the scene.
  bool followed(const Landmarks& landmarks, const Registration& start) const;
  /// `still`: coherence of the phases for a scene that has not moved.
  void search(const ReferencePicture& reference, PhaseAgreement& best, const Registration& start,
              double still, Landmarks& landmarks);
  /// Tries turns and enlargements that are too large for a step, wherever the picture's centre may be.
  void search_turns(const ReferencePicture& reference, const Pose& from, Landmarks& landmarks);
  struct Peak {
    float height = 0;
    Pose place;
  };
  /// Of the correlation of a frame's small picture with the reference's, the highest first; at least one.
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
  int unsearched_ = 0;              ///< frames since the scene was looked for, while it is lost
  int without_ = 0;                 ///< frames in a row without landmarks
  std::vector<int> points_;         ///< inside the rim, every other one
  std::vector<float> at_x_, at_y_;  ///< of these points, pixels from the centre
};

}  // namespace sfft::video
