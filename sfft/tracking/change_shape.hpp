// SPDX-License-Identifier: Apache-2.0
// The shape of what changed since the last renewal: tells kinds of change apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>

#include "sfft/plan.hpp"

namespace sfft::detail {

/// Two logarithms that hardly vary while a change is of one kind, whatever its size, and differ between a
/// shadow, sensor noise, a texture or rain. They cost one pass over the coefficients. Frames that do not
/// repeat all have the shape {0, 0}: their coefficients change by as much as they are.
struct ChangeShape {
  double held = 0;    ///< log of Σ|Δ_i|² over the tail's energy; Δ is the change of the coefficients
  double shared = 0;  ///< log of (Σ|Δ_i|²)² / Σ|Δ_i|⁴: how many coefficients share the change
};

/// `before` holds the coefficients of the last renewal, which is the reference if there is one. `mean` is the
/// index of f = 0, which does not count, or -1.
template <class Real>
ChangeShape change_shape(const Spectrum<Real>& spectrum, std::span<const std::complex<double>> before,
                         std::int64_t mean) {
  const auto power = [&](std::size_t i) {
    const double re = static_cast<double>(spectrum.values[i].real()) - before[i].real();
    const double im = static_cast<double>(spectrum.values[i].imag()) - before[i].imag();
    return re * re + im * im;
  };
  // Several sums, because one would wait for each addition.
  constexpr std::size_t kLanes = 4;
  double sums[kLanes] = {}, squares[kLanes] = {};
  const auto add = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double p = power(i);
      sums[i % kLanes] += p;
      squares[i % kLanes] += p * p;
    }
  };
  const std::size_t k = before.size(), gap = mean < 0 ? k : static_cast<std::size_t>(mean);
  add(0, gap);
  add(std::min(gap + 1, k), k);
  const double sum = sums[0] + sums[1] + sums[2] + sums[3];
  const double square = squares[0] + squares[1] + squares[2] + squares[3];
  const auto usable = [](double x) {
    return x > std::numeric_limits<double>::min() && x < std::numeric_limits<double>::max();
  };
  if (!usable(sum) || !usable(square) || !usable(spectrum.tail_energy)) return {};
  constexpr double kRepeats = 0.5;
  const double norm = spectrum.error_l2 / spectrum.relative_error;
  if (!(sum < kRepeats * norm * norm)) return {};
  return {std::log(sum / spectrum.tail_energy), std::log(sum / square * sum)};
}

}  // namespace sfft::detail
