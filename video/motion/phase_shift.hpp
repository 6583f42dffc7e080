// SPDX-License-Identifier: Apache-2.0
// Estimates small motions of the whole picture from the phases of a template's coefficients.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::video {

/// How far a picture has moved since its reference.
struct PhaseShift {
  double x = 0, y = 0;  ///< pixels; positive: the picture moved to the right, downwards
  /// Covariance of x and y: xx, xy, yy in square pixels, from the scatter of the phases about the fit.
  std::array<double, 3> covariance{};
  double gain = 1;         ///< common factor of all magnitudes: the change of contrast
  double phase_rms = 0;    ///< weighted root mean square of the residual phases, radians
  double weight_used = 0;  ///< share of the weight that was not rejected as outlying, 0 to 1
  /// Number of directions that the phases determine. 0: x and y are those of the start. 1: all structure is
  /// striped, so only the motion across the stripes is known, and the other component is that of the start.
  /// 2: both.
  int directions = 0;
};

/// The contribution of a picture's edges to the derivatives of its coefficients with respect to a shift. The
/// shift theorem lacks it: the discrete transform treats the picture as periodic, but the step between
/// opposite edges stays where it is when the picture moves.
struct EdgeTerms {
  std::vector<std::complex<float>> x, y;  ///< a value per coefficient
};

struct PhaseShiftOptions {
  double start_x = 0, start_y = 0;  ///< expected shift in pixels, such as that of the previous frame
  /// Max. distance of the true shift from the start. Low frequencies, whose phases cannot have wrapped, are
  /// fitted before high ones.
  double reach_px = 2;
  /// Root mean square error of every coefficient, in any common unit. It sets the weights. Empty: equal
  /// errors.
  std::span<const float> noise{};
  const EdgeTerms* edges =
      nullptr;         ///< those of the reference; without them, structured edges make shifts too small
  bool robust = true;  ///< give less weight to phases that disagree with the others
  /// Expected root mean square displacement from the start, in pixels. Components that the phases hardly
  /// determine then stay near the start instead of following noise. 0: unknown.
  double prior_px = 0;
};

/// Frequencies of a support as signed numbers of periods, and as angles.
struct FrequencyGrid {
  std::vector<std::int64_t> rows, columns;
  std::int64_t highest_row = 0, highest_column = 0;  ///< absolute values
  double unit_x = 0, unit_y = 0;                     ///< radians per pixel of one period
  /// Radians per pixel; both are 0 for coefficients without weight.
  std::vector<double> omega_x, omega_y;
};

/// Estimates shifts between spectra of one support, by weighted least squares over phases. A motion by d
/// rotates the coefficient at f by -2 pi (f_x d_x / width + f_y d_y / height). The error of a phase is
/// proportional to the noise over the magnitude of its coefficient. Immutable: one estimator may serve many
/// threads.
///
/// It is meant for motions of a few pixels. Larger ones need a start, or steps from frame to frame.
class PhaseShiftEstimator {
 public:
  /// `shape`: {height, width}; `support`: a template's linear indices. f = 0 and frequencies at half the
  /// sampling rate, which have no phase in real pictures, get no weight. Throws Error(invalid_argument) for a
  /// shape without two dimensions.
  PhaseShiftEstimator(const Shape& shape, std::span<const std::int64_t> support);

  /// The shift from `reference` to `frame`, coefficients in the order of the support. Throws
  /// Error(shape_mismatch) for spans of another length.
  PhaseShift estimate(std::span<const std::complex<float>> reference,
                      std::span<const std::complex<float>> frame,
                      const PhaseShiftOptions& options = {}) const;

  /// The edge terms of a reference frame. Throws Error(shape_mismatch) if it is not of the estimator's shape,
  /// and Error(type_mismatch) if its samples are not 8- or 16-bit integers, float or double.
  EdgeTerms edge_terms(const SignalView& frame) const;

  std::size_t size() const noexcept { return grid_.rows.size(); }
  /// Angular frequencies in radians per pixel, 0 for coefficients without weight.
  std::span<const double> omega_x() const noexcept { return grid_.omega_x; }
  std::span<const double> omega_y() const noexcept { return grid_.omega_y; }

 private:
  Shape shape_;
  FrequencyGrid grid_;
};

}  // namespace sfft::video
