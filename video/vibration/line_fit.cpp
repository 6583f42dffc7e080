// SPDX-License-Identifier: Apache-2.0
// Fits cosine and sine with 2 x 2 normal equations, so that a line's image at the negative frequency does not
// disturb it. Finds the frequency with parabolas through the explained power.
#include "video/vibration/line_fit.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sfft::video {

namespace {

using Complex = std::complex<double>;

/// Calls `use(i, exp(i omega t))` with t from the middle of n samples. The running product is recomputed
/// exactly every 256 samples.
template <class Use>
void rotate(double omega, std::size_t n, Use&& use) {
  const double first = -0.5 * (static_cast<double>(n) - 1);
  const Complex step = std::polar(1.0, omega);
  Complex at;
  constexpr std::size_t kExact = 256;
  for (std::size_t i = 0; i < n; ++i) {
    at = i % kExact == 0 ? std::polar(1.0, omega * (first + static_cast<double>(i))) : at * step;
    use(i, at);
  }
}

/// Power that the best oscillation at omega explains, relative to the noise. Stores it in `fit` unless null.
double explained(double omega, std::span<const std::vector<double>> channels, std::span<const double> noise,
                 const Taper& taper, Oscillation* fit) {
  const std::size_t n = taper.weight.size();
  double cc = 0, cs = 0, ss = 0;
  std::vector<double> c(channels.size()), s(channels.size());
  rotate(omega, n, [&](std::size_t i, const Complex& turn) {
    const double wc = taper.weight[i] * turn.real();
    const double ws = taper.weight[i] * turn.imag();
    cc += wc * turn.real();
    cs += wc * turn.imag();
    ss += ws * turn.imag();
    for (std::size_t k = 0; k < channels.size(); ++k) {
      c[k] += wc * channels[k][i];
      s[k] += ws * channels[k][i];
    }
  });
  const double determinant = cc * ss - cs * cs;
  const bool both = determinant > 1e-9 * cc * cc;
  double power = 0;
  if (fit != nullptr) {
    fit->omega = omega;
    fit->amplitude.clear();
  }
  for (std::size_t k = 0; k < channels.size(); ++k) {
    const double a = both ? (ss * c[k] - cs * s[k]) / determinant : cc > 0 ? c[k] / cc : 0;
    const double b = both ? (cc * s[k] - cs * c[k]) / determinant : 0;
    power += (a * c[k] + b * s[k]) / noise[k];
    if (fit != nullptr) fit->amplitude.emplace_back(a, -b);
  }
  return power;
}

}  // namespace

Taper::Taper(std::size_t n, const std::vector<bool>& present) : weight(n) {
  const auto length = static_cast<double>(n);
  for (std::size_t i = 0; i < n; ++i) {
    if (!present.empty() && !present[i]) continue;
    const double w = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * (static_cast<double>(i) + 0.5) / length);
    const double t = static_cast<double>(i) - 0.5 * (length - 1);
    weight[i] = w;
    sum += w;
    squares += w * w;
    time_spread += w * t * t;
    noise_spread += w * w * t * t;
  }
}

double Taper::effective_samples() const {
  return squares > 0 ? std::sqrt(4 * std::numbers::pi * noise_spread / squares) : 0;
}

Oscillation oscillation_at(double omega, std::span<const std::vector<double>> channels, const Taper& taper) {
  const std::vector<double> same(channels.size(), 1);
  Oscillation fit;
  explained(omega, channels, same, taper, &fit);
  return fit;
}

Oscillation best_oscillation(double omega, double reach, std::span<const std::vector<double>> channels,
                             std::span<const double> noise, const Taper& taper) {
  const double low = std::max(1e-9, omega - reach);
  const double high = std::min(std::numbers::pi, omega + reach);
  double width = 0.25 * reach;
  constexpr int kParabolas = 7;
  for (int i = 0; i < kParabolas; ++i) {
    const double before = explained(omega - width, channels, noise, taper, nullptr);
    const double here = explained(omega, channels, noise, taper, nullptr);
    const double after = explained(omega + width, channels, noise, taper, nullptr);
    const double bend = before - 2 * here + after;
    double step = after > before ? width : -width;
    if (bend < 0) step = std::clamp(0.5 * width * (before - after) / bend, -2 * width, 2 * width);
    omega = std::clamp(omega + step, low, high);
    width = std::max(0.3 * width, 1e-3 * reach);
  }
  return oscillation_at(omega, channels, taper);
}

void add(const Oscillation& oscillation, double sign, std::span<std::vector<double>> channels) {
  if (channels.empty()) return;
  rotate(oscillation.omega, channels[0].size(), [&](std::size_t i, const Complex& turn) {
    for (std::size_t k = 0; k < channels.size(); ++k)
      channels[k][i] += sign * (oscillation.amplitude[k] * turn).real();
  });
}

double omega_error(const Oscillation& oscillation, std::span<const double> noise, const Taper& taper) {
  // A channel with amplitude A and noise power s determines omega with the variance 2 s / A^2 * noise_spread
  // / time_spread^2.
  double information = 0;
  for (std::size_t k = 0; k < oscillation.amplitude.size(); ++k) {
    if (noise[k] > 0) information += std::norm(oscillation.amplitude[k]) / (2 * noise[k]);
  }
  return information > 0 ? std::sqrt(taper.noise_spread / information) / taper.time_spread : 0;
}

double amplitude_error(double noise, const Taper& taper) {
  return std::sqrt(2 * noise * taper.squares) / taper.sum;
}

}  // namespace sfft::video
