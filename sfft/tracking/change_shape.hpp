// SPDX-License-Identifier: Apache-2.0
// The shape of the change since the last renewal, which distinguishes kinds of change.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <span>

#include "sfft/plan.hpp"

namespace sfft::detail {

/// Three logarithms that hardly vary while changes are of one kind, whatever their size. They differ between
/// shadows, sensor noise, textures and rain. They cost one pass over the coefficients. All frames of a stream
/// that does not repeat have the shape {0, 0, 0}: their coefficients change by their whole magnitude.
struct ChangeShape {
  double held = 0;    ///< log of Σ|Δ_i|² over the tail's energy; Δ_i is the change of a coefficient
  double shared = 0;  ///< log of (Σ|Δ_i|²)² / Σ|Δ_i|⁴: how many coefficients share the change
  /// log(0.1 + r), where r is the energy of the change since the previous frame over Σ|Δ_i|². r is nearly 0
  /// for slow motion. For noise, which is independent in every frame, r is 2 if Δ is relative to a noise-free
  /// spectrum and 1 if that is as noisy. NaN if the previous frame is not known.
  double fresh = 0;
};

/// `before`: the coefficients of the last renewal, which is the reference if there is one. `previous`: those
/// of the previous frame, or empty. `mean`: the position of f = 0, which is left out, or -1.
template <class Real>
ChangeShape change_shape(const Spectrum<Real>& spectrum, std::span<const std::complex<double>> before,
                         std::span<const std::complex<Real>> previous, std::int64_t mean) {
  const auto square = [](double re, double im) { return re * re + im * im; };
  // Several sums, because in a single one each addition would wait for the one before.
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
