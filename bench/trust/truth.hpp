// SPDX-License-Identifier: Apache-2.0
// The independent reference: a dense double-precision transform, read at a spectrum's support.
#pragma once

#include <cmath>
#include <complex>
#include <vector>

#include "sfft/sfft.hpp"

namespace sfft::trust {

/// Absolute errors over the support without f = 0, as Spectrum::error_l2 counts them.
struct Comparison {
  double true_l2 = 0;      ///< ‖X̂ − X‖₂
  double norm = 0;         ///< ‖X‖₂
  double reported_l2 = 0;  ///< Spectrum::error_l2
  double reported_relative = 0;

  /// Rounding of a spectrum in float; true errors below it are meaningless.
  static constexpr double kRounding = 1e-6;

  double true_relative() const { return norm > 0 ? true_l2 / norm : true_l2 > 0 ? 1 : 0; }
  bool covered() const { return true_l2 <= 2 * reported_l2 + kRounding * norm; }
  bool relative_covered() const { return true_relative() <= 2 * reported_relative + kRounding; }
  bool rounding_only() const { return true_l2 <= 2 * kRounding * norm; }
};

/// One shape's dense transform in double, and the last frame's spectrum.
class Truth {
 public:
  Truth(const Shape& shape, bool real)
      : plan_(shape, real ? Domain::real : Domain::complex), spectrum_(plan_.spectrum_points()) {}

  void transform(const SignalView& frame) { plan_.forward(frame, spectrum_); }
  /// X at a linear index of the full spectrum.
  std::complex<double> at(std::int64_t flat) const;

  template <class Real>
  Comparison compare(const Spectrum<Real>& spectrum) const {
    double error = 0;
    double norm = 0;
    for (std::size_t i = 0; i < spectrum.support->size(); ++i) {
      const std::int64_t f = (*spectrum.support)[i];
      if (f == 0) continue;
      const std::complex<double> exact = at(f);
      error += std::norm(std::complex<double>(spectrum.values[i]) - exact);
      norm += std::norm(exact);
    }
    return {std::sqrt(error), std::sqrt(norm), spectrum.quality.error_l2, spectrum.quality.relative_error};
  }

 private:
  dense::Plan<double> plan_;
  std::vector<std::complex<double>> spectrum_;
};

}  // namespace sfft::trust
