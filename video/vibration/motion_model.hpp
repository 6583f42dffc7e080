// SPDX-License-Identifier: Apache-2.0
// Models how the coefficients that a plan computes change when its reference picture moves, and moves
// pictures by fractions of a pixel.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sfft/plan.hpp"
#include "sfft/types.hpp"

namespace sfft::video {

struct Picture {
  std::int64_t width = 0, height = 0;
  std::vector<float> samples;

  SignalView view() const { return {samples, Shape{height, width}}; }
};

/// Converts 8-bit, 16-bit or float samples.
Picture to_picture(const SignalView& view);

/// Removes most of the picture's white noise of the given variance: every coefficient of its spectrum loses
/// several times the power that this noise adds.
Picture denoised(const Picture& picture, double variance);

/// Moves a picture by x pixels to the right and y down, with Lanczos' windowed sinc of eight samples. Pixels
/// that enter repeat the edge.
Picture shifted(const Picture& picture, double x, double y);

struct FittedMotion {
  double x = 0, y = 0;                 ///< pixels from the reference
  std::array<double, 3> covariance{};  ///< xx, xy, yy
  double gain = 1;                     ///< contrast relative to the reference
  double unlike = 0;                   ///< residual amplitude relative to the coefficients
  double explained = 0;   ///< share of the residual at the start of the fit that the motion explains
  double left_power = 0;  ///< weighted residual power
};

/// A plan that reads a few samples and compares them with a reference is a linear map of the picture, and so
/// are its errors. It underestimates changes by the weight of its prior, energy outside the template aliases
/// into the coefficients, and edges do not move. This model therefore uses the plan itself: it shifts the
/// reference by known fractions of a pixel, transforms the result, and keeps the coefficients and their
/// derivatives. A frame's place is then the one that explains its coefficients best, by linear least squares.
/// Any error that the plan makes with a moving picture is also in the model.
///
/// Derivatives are valid within half a cell. Each cell is computed when the picture first gets there.
class MotionModel {
 public:
  /// `plan` must outlive the model. `reference` should have little noise: noise moves with the shifted
  /// reference but not with real frames, so motions would be too small. `prior_px`: see PhaseShiftOptions.
  MotionModel(const Plan<float>& plan, Picture reference, double prior_px);

  /// Finds the place of a frame near (x, y) from its coefficients.
  FittedMotion fit(std::span<const std::complex<float>> values, double x, double y);
  /// Weighted power of the change of a frame's coefficients since the reference.
  double change(std::span<const std::complex<float>> values);

 private:
  struct Cell {
    std::vector<std::complex<float>> at, by_x, by_y;
    /// Normal equations of x, y and gain: xx, xy, xg, yy, yg, gg.
    std::array<double, 6> normal{};
  };
  const Cell& cell(int column, int row);
  std::vector<std::complex<float>> transform(const Picture& picture);
  Cell make_cell(double x, double y);

  const Plan<float>& plan_;
  Picture reference_;
  double prior_px_;
  double step_;  ///< spacing of the cells in pixels
  Workspace workspace_;
  Spectrum<float> spectrum_;
  std::vector<float> weight_;  ///< per coefficient; 0 for the mean
  std::map<std::pair<int, int>, Cell> cells_;
};

}  // namespace sfft::video
