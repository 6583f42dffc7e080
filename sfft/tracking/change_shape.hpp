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

/// Three logarithms that hardly vary while a change is of one kind, whatever its size, and differ between a
/// shadow, sensor noise, a texture or rain. They cost one pass over the coefficients. Frames that do not
/// repeat all have the shape {0, 0, 0}: their coefficients change by as much as they are.
struct ChangeShape {
  double held = 0;    ///< log of Σ|Δ_i|² over the tail's energy; Δ is the change of the coefficients
  double shared = 0;  ///< log of (Σ|Δ_i|²)² / Σ|Δ_i|⁴: how many coefficients share the change
  /// log of a tenth plus the share of Σ|Δ_i|² that is new since the frame before: 2 for noise, which is new
  /// in every frame, nearly 0 for a slow motion. NaN where that frame is not known.
  double fresh = 0;
};

/// `before` holds the coefficients of the last renewal, which is the reference if there is one; `previous`
/// those of the frame before this one, or nothing. `mean` is the index of f = 0, which does not count, or -1.
template <class Real>
ChangeShape change_shape(const Spectrum<Real>& spectrum, std::span<const std::complex<double>> before,
                         std::span<const std::complex<Real>> previous, std::int64_t mean) {
  const auto square = [](double re, double im) { return re * re + im * im; };
  // Several sums, because one would wait for each addition.
  constexpr std::size_t kLanes = 4;
  double sums[kLanes] = {}, squares[kLanes] = {}, steps[kLanes] = {};
  const auto add = [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto re = static_cast<double>(spectrum.values[i].real()),
                 im = static_cast<double>(spectrum.values[i].imag());
      const double p = square(re - before[i].real(), im - before[i].imag());
      sums[i % kLanes] += p;
      squares[i % kLanes] += p * p;
      if (!previous.empty())
        steps[i % kLanes] += square(re - static_cast<double>(previous[i].real()),
                                    im - static_cast<double>(previous[i].imag()));
    }
  };
  const std::size_t k = before.size(), gap = mean < 0 ? k : static_cast<std::size_t>(mean);
  add(0, gap);
  add(std::min(gap + 1, k), k);
  const auto total = [](const double* lanes) { return lanes[0] + lanes[1] + lanes[2] + lanes[3]; };
  const double sum = total(sums), fourth = total(squares), step = total(steps);
  const auto usable = [](double x) {
    return x > std::numeric_limits<double>::min() && x < std::numeric_limits<double>::max();
  };
  if (!usable(sum) || !usable(fourth) || !usable(spectrum.quality.tail_energy)) return {};
  constexpr double kRepeats = 0.5;
  const double norm = spectrum.quality.error_l2 / spectrum.quality.relative_error;
  if (!(sum < kRepeats * norm * norm)) return {};
  constexpr double kLittle = 0.1;
  const bool follows = !previous.empty() && step < std::numeric_limits<double>::max();
  const double fresh = follows ? std::log(kLittle + step / sum) : std::numeric_limits<double>::quiet_NaN();
  return {std::log(sum / spectrum.quality.tail_energy), std::log(sum / fourth * sum), fresh};
}

}  // namespace sfft::detail
