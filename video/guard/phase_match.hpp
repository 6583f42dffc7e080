// SPDX-License-Identifier: Apache-2.0
// Agreement of the phases of two frames under an assumed shift of the scene.
#pragma once

#include <complex>
#include <span>
#include <vector>

#include "video/guard/layout.hpp"

namespace sfft::video {

struct PhaseAgreement {
  double x = 0, y = 0;        ///< pixels
  double coherence = 0;       ///< weighted mean of the cosines of the residual phases, -1 to 1
  double standard_error = 0;  ///< pixels, of the larger of x and y
};

/// Each frequency counts by its weight, whatever its amplitude: an object that moves in front of the scene
/// spoils the strong low frequencies but not the sum over all. Frequencies near the axes are left out,
/// because they contain the jump between opposite edges of the picture, which does not move.
class PhaseMatch {
 public:
  explicit PhaseMatch(const Layout& layout);

  /// Sets the frames to compare. `weights`: one per coefficient, 0 to 1.
  void prepare(std::span<const std::complex<float>> reference, std::span<const std::complex<float>> values,
               std::span<const float> weights);
  /// The agreement at this shift.
  PhaseAgreement at(double x, double y);
  /// Climbs to the nearest maximum, with low frequencies first. It may be up to about six pixels away.
  PhaseAgreement climb(double x, double y);
  /// The same with low frequencies alone: accurate to a fraction of a pixel, and without coherence and error.
  PhaseAgreement approach(double x, double y);
  /// Standard deviation of the coherence of unrelated frames.
  double chance() const noexcept { return chance_; }

 private:
  struct Sums {
    double weight = 0, cosine = 0, gx = 0, gy = 0, xx = 0, xy = 0, yy = 0, noise_x = 0, noise_y = 0;
  };
  Sums sum(double x, double y, std::size_t count);
  void climb_stage(std::size_t stage, double& x, double& y);
  void fill_ramps(double x, double y);

  /// Sorted by frequency.
  std::vector<std::size_t> places_;
  std::vector<int> fx_, fy_;
  std::vector<float> omega_x_, omega_y_;
  std::vector<std::complex<float>> turns_;  ///< unit phase differences times weight
  std::vector<float> weights_;
  std::vector<std::size_t> stages_;  ///< number of frequencies of each stage
  std::vector<std::complex<float>> ramp_x_, ramp_y_;
  int max_x_ = 0, max_y_ = 0;
  double width_, height_;
  double chance_ = 1;
};

}  // namespace sfft::video
