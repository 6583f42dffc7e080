// SPDX-License-Identifier: Apache-2.0
// Small motions of the whole picture, from the phases of a template's coefficients.
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
  double gain = 1;         ///< common factor of all magnitudes: change of contrast, not of place
  double phase_rms = 0;    ///< weighted root mean square of the phases that the shift leaves over, radians
  double weight_used = 0;  ///< share of the weight that was not set aside as outlying, 0 to 1
  /// Directions that the phases determine: 0 (x and y are those of the start), 1 (all structure is striped:
  /// only the motion across the stripes is known, and the other component is that of the start), or 2.
  int directions = 0;
};

/// What the edges of a picture add to the derivative of its coefficients by a shift, which the shift theorem
/// alone does not know: the discrete transform takes the picture for periodic, and the step between opposite
/// edges stays where it is when the picture moves.
struct EdgeTerms {
  std::vector<std::complex<float>> x, y;  ///< a value per coefficient
};

struct PhaseShiftOptions {
  double start_x = 0, start_y = 0;  ///< expected shift in pixels, such as that of the previous frame
  /// How far the true shift may be from the start. Low frequencies, whose phases cannot have wrapped, lead
  /// the way for the high ones.
  double reach_px = 2;
  /// Root mean square error of every coefficient, in any common unit; it sets the weights. Empty: the same
  /// for all.
  std::span<const float> noise{};
  const EdgeTerms* edges =
      nullptr;         ///< of the reference; without them shifts of structured edges are too small
  bool robust = true;  ///< give less weight to phases that disagree with the others
  /// Root mean square of the displacements from the start that are to be expected, in pixels. Keeps what the
  /// phases hardly determine near the start instead of letting noise decide. 0: nothing is known.
  double prior_px = 0;
};

/// Frequencies of a support as signed numbers of periods, and as angles.
struct FrequencyGrid {
  std::vector<std::int64_t> rows, columns;
  std::int64_t highest_row = 0, highest_column = 0;  ///< absolute values
  double unit_x = 0, unit_y = 0;                     ///< radians per pixel of one period
  /// Radians per pixel; 0 in both for coefficients that count for nothing.
  std::vector<double> omega_x, omega_y;
};

/// Estimates shifts between spectra of one support. Weighted least squares over phases: a picture that moves
/// by d turns the coefficient at f by -2 pi (f_x d_x / width + f_y d_y / height), and a phase is as good as
/// its coefficient is large beside its noise. Immutable: one estimator may serve many threads.
///
/// For motions of a few pixels. Larger ones need a start, or steps from frame to frame.
class PhaseShiftEstimator {
 public:
  /// `shape`: {height, width}; `support`: a template's linear indices. f = 0 and frequencies at half the
  /// sampling rate, which have no phase in real pictures, count for nothing. Throws Error(invalid_argument)
  /// for a shape without two dimensions.
  PhaseShiftEstimator(const Shape& shape, std::span<const std::int64_t> support);

  /// The shift from `reference` to `frame`, coefficients in the order of the support. Throws
  /// Error(shape_mismatch) for spans of another length.
  PhaseShift estimate(std::span<const std::complex<float>> reference,
                      std::span<const std::complex<float>> frame,
                      const PhaseShiftOptions& options = {}) const;

  /// The edge terms of a reference frame: 8- or 16-bit or floating-point samples of the estimator's shape.
  EdgeTerms edge_terms(const SignalView& frame) const;

  std::size_t size() const noexcept { return grid_.rows.size(); }
  /// Angular frequencies in radians per pixel, 0 for coefficients that count for nothing.
  std::span<const double> omega_x() const noexcept { return grid_.omega_x; }
  std::span<const double> omega_y() const noexcept { return grid_.omega_y; }

 private:
  Shape shape_;
  FrequencyGrid grid_;
};

}  // namespace sfft::video
