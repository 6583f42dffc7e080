// SPDX-License-Identifier: Apache-2.0
// learn_at(): watches chosen frequencies of a signal, here the harmonics of a motor's rotation.
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  // One second at 48 kHz, so that frequency indices are in Hz. The signal has 50 Hz and three of its
  // harmonics, with a little noise.
  constexpr std::int64_t n = 48000;
  std::vector<float> samples;
  std::uint32_t noise = 1;
  for (std::int64_t t = 0; t < n; ++t) {
    double value = 0;
    for (const int harmonic : {1, 2, 3, 4}) {
      const double turns = static_cast<double>(50 * harmonic * t % n) / n;
      value += std::cos(2 * std::numbers::pi * turns) / harmonic;
    }
    noise = noise * 1664525 + 1013904223;
    samples.push_back(static_cast<float>(value + 1e-3 * (noise / 4294967296.0 - 0.5)));
  }
  const auto signal = sfft::SignalView::line(samples);

  // The support is given. The frame supplies the coefficients' magnitudes and the power outside them, so that
  // plans can state their errors.
  const std::vector<std::int64_t> support{50, 100, 150, 200};
  const sfft::Template tmpl = sfft::learn_at(signal, support);
  const sfft::Spectrum<double> spectrum = sfft::transform(signal, tmpl);
  bool good = spectrum.values.size() == 4;
  for (std::size_t i = 0; i < spectrum.values.size(); ++i) {
    const double amplitude = 2.0 * std::abs(spectrum.values[i]) / n;
    std::printf("%lld Hz: amplitude %.3f\n", static_cast<long long>((*spectrum.support)[i]), amplitude);
    good = good && std::abs(amplitude - 1.0 / static_cast<double>(i + 1)) < 1e-3;
  }
  return good ? 0 : 1;
}
