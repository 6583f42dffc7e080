// SPDX-License-Identifier: Apache-2.0
// Computes the phase factors by which a shift multiplies consecutive frequencies.
#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

#include "kernels/base/math/complex.hpp"

namespace sfft::video {

using detail::times;

/// Computes exp(2 pi i turns f) for f = 0 … `last`, or for f = -last … last. Each value is the previous one
/// times the value at f = 1, in double precision. This is several times cheaper than a sine per value, and
/// adds an error of about 1e-16 per step.
inline void phase_ramp(double turns, int last, bool both_signs, std::vector<std::complex<float>>& ramp) {
  const auto max = static_cast<std::size_t>(last);
  const std::size_t zero = both_signs ? max : 0;
  ramp.resize(zero + max + 1);
  const double c = std::cos(2 * std::numbers::pi * turns);
  const double s = std::sin(2 * std::numbers::pi * turns);
  double re = 1;
  double im = 0;
  for (std::size_t f = 0; f <= max; ++f) {
    const std::complex<float> phase(static_cast<float>(re), static_cast<float>(im));
    ramp[zero + f] = phase;
    if (both_signs) ramp[zero - f] = std::conj(phase);
    const double next = re * c - im * s;
    im = re * s + im * c;
    re = next;
  }
}

}  // namespace sfft::video
