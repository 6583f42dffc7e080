// SPDX-License-Identifier: Apache-2.0
// Measures frames against a reference of the scene.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "sfft/plan.hpp"
#include "video/guard/activity.hpp"
#include "video/guard/landmarks.hpp"
#include "video/guard/learning.hpp"
#include "video/guard/observation.hpp"
#include "video/guard/pixel_rows.hpp"
#include "video/guard/registration.hpp"
#include "video/guard/tiles.hpp"

namespace sfft::video {

/// One observer per stream. Copies continue independently.
class Observer {
 public:
  /// `full`: the largest value that samples take.
  Observer(std::shared_ptr<const Learned> learned, double full);
  Observer(const Observer& other);
  Observer& operator=(const Observer&) = delete;

  /// Measures the next frame; `region` is the learned region of it.
  Observation observe(const SignalView& region);

  /// Moves the reference to the scene's position in the latest frame, because scenes sway in the wind or on a
  /// mast. Later shifts are relative to it.
  void follow();
  /// Pose of the scene in the latest frame, relative to the reference; zero after follow().
  Pose pose() const noexcept { return last_.pose(); }
  /// Makes the latest frame, whose scene has this pose, the reference.
  void accept(const SignalView& region, const Pose& pose);
  /// Moves the reference towards the latest frame by a share of the difference, as light and seasons change.
  void adapt(double share);
  /// Learns from the latest frame how much tiles change by themselves.
  void note_noise(double share);
  /// Updates by this share what is usual for landmarks, from the latest frame. `renew`: the next frame may
  /// choose new landmarks if these are worn.
  void note_usual(double share, bool renew);

  const Learned& learned() const noexcept { return *learned_; }

 private:
  void choose_landmarks(const SignalView& region, const Pose& pose);
  /// `x`, `y`: shift of the scene, in widths and heights of the picture.
  void mark_outside(double x, double y);
  void measure_rings(Observation& out) const;
  double relative_detail(double gain) const;

  std::shared_ptr<const Learned> learned_;
  double full_;
  Workspace workspace_;
  Spectrum<float> spectrum_;
  std::vector<std::complex<float>> values_, previous_, reference_values_;
  Registrar registrar_;
  TileGrid grid_;
  ReferencePicture reference_;
  RowStatistics reference_rows_, rows_;
  ActivityMeter activity_;
  bool renew_landmarks_ = false;
  bool has_rows_ = false, has_previous_ = false;
  Landmarks landmarks_;
  Registration last_;
  std::vector<float> levels_, before_;
  TileComparisons tiles_{};
  std::vector<double> noise_;
};

}  // namespace sfft::video
