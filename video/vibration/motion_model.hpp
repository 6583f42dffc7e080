// SPDX-License-Identifier: Apache-2.0
// How the coefficients that a plan computes change when its reference picture moves.
#pragma once

#include <array>
#include <complex>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sfft/plan.hpp"
#include "video/vibration/shifted_picture.hpp"

namespace sfft::video {

struct FittedMotion {
  double x = 0, y = 0;                 ///< pixels from the reference
  std::array<double, 3> covariance{};  ///< xx, xy, yy
  double gain = 1;                     ///< contrast, relative to the reference
  double unlike = 0;                   ///< amplitude left over, relative to the coefficients themselves
  double explained = 0;   ///< share of the change since the place of the start that the motion explains
  double left_power = 0;  ///< weighted power that is left over
};

/// A plan that reads a few samples, and compares them with a reference, is a linear map of the picture. So
/// are its errors: it underrates changes by the weight of its prior, energy outside of the template aliases
/// into the coefficients, and edges do not move. This model therefore asks the plan itself: it moves the
/// reference by known fractions of a pixel, transforms the result, and keeps the coefficients and their
/// derivatives. A frame's place is then the one that explains its coefficients best, by linear least squares:
/// all that the plan does wrong with a moving picture, it does to the model as well.
///
/// Derivatives hold within half a cell; they are made for cells as the picture gets there.
class MotionModel {
 public:
  /// `plan` must outlive the model. `reference` is best without noise, which moves with the picture here and
  /// not there, so that motions would come out too small. `prior_px`: see PhaseShiftOptions.
  MotionModel(const Plan<float>& plan, Picture reference, double prior_px);

  /// The place of a frame near (x, y), from its coefficients.
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
  double step_;  ///< pixels from one cell to the next
  Workspace<float> workspace_;
  Spectrum<float> spectrum_;
  std::vector<float> weight_;  ///< per coefficient; 0 for the mean
  std::map<std::pair<int, int>, Cell> cells_;
};

}  // namespace sfft::video
