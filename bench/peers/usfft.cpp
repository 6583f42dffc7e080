// SPDX-License-Identifier: Apache-2.0
// Spreads each term to an oversampled grid with Gaussian weights, runs one inverse FFT, and divides by the
// Gaussian's transform.
#include "bench/peers/usfft.hpp"

#include <cmath>
#include <numbers>

#include "bench/peers/permutation.hpp"

namespace sfft::peers {

using std::numbers::pi;

Usfft::Usfft(std::int64_t points)
    : points_(points), fft_(points * kOversampling), grid_(static_cast<std::size_t>(fft_.points())) {
  const auto m = static_cast<double>(points);
  constexpr double r = kOversampling;
  width_ = kSpread * pi / (m * m * r * (r - 0.5));
  for (std::int64_t j = -points / 2; j < points / 2; ++j) {
    const auto at = static_cast<double>(j);
    correction_.push_back(std::sqrt(pi / width_) * std::exp(width_ * at * at) /
                          static_cast<double>(fft_.points()));
  }
}

void Usfft::place(std::span<const double> frequencies) {
  const auto grid = static_cast<double>(fft_.points());
  const double step = 2 * pi / grid;
  terms_.resize(frequencies.size());
  for (std::size_t f = 0; f < frequencies.size(); ++f) {
    Term& term = terms_[f];
    const double position = frequencies[f] * grid;
    const auto nearest = std::llround(position);
    const double offset = (position - static_cast<double>(nearest)) * step;
    term.first = (nearest - kSpread + fft_.points()) % fft_.points();
    term.centre = std::polar(1.0, 2 * pi * std::fmod(frequencies[f] * static_cast<double>(points_ / 2), 1.0));
    for (std::int64_t i = -kSpread; i <= kSpread; ++i) {
      const double distance = static_cast<double>(i) * step - offset;
      term.weights[i + kSpread] = std::exp(-distance * distance / (4 * width_));
    }
  }
}

void Usfft::subtract(std::span<const std::complex<double>> coefficients,
                     std::span<std::complex<double>> samples) {
  if (coefficients.empty()) return;
  std::fill(grid_.begin(), grid_.end(), std::complex<double>());
  const std::int64_t size = fft_.points();
  for (std::size_t f = 0; f < coefficients.size(); ++f) {
    const Term& term = terms_[f];
    const std::complex<double> value = times(coefficients[f], term.centre);
    std::int64_t at = term.first;
    for (const double weight : term.weights) {
      grid_[static_cast<std::size_t>(at)] += weight * value;
      if (++at == size) at = 0;
    }
  }
  fft_.inverse(grid_);
  const auto half = static_cast<std::size_t>(points_ / 2);
  const auto whole = static_cast<std::size_t>(size);
  for (std::size_t j = 0; j < half; ++j) samples[j] -= correction_[j] * grid_[whole - half + j];
  for (std::size_t j = half; j < 2 * half; ++j) samples[j] -= correction_[j] * grid_[j - half];
}

}  // namespace sfft::peers
