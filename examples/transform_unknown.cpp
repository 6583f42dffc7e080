// SPDX-License-Identifier: Apache-2.0
// transform(): the k largest coefficients of an unknown signal, in one call.
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  constexpr std::int64_t n = 1 << 20;
  const std::int64_t tones[] = {1234, 77777, 900001};
  std::vector<std::complex<float>> signal(n);
  for (std::int64_t t = 0; t < n; ++t) {
    std::complex<double> sum = 0;
    for (const std::int64_t f : tones) {
      // Reduced as integers, so that the phase is exact.
      const double turns = static_cast<double>(f * t % n) / static_cast<double>(n);
      sum += std::polar(1.0, 2 * std::numbers::pi * turns);
    }
    signal[static_cast<std::size_t>(t)] = sum;
  }

  // A vector does not know its dimensions, so line() declares one dimension.
  const sfft::Discovery result = sfft::transform(sfft::SignalView::line(signal), sfft::Largest{3});
  const sfft::Spectrum<double>& found = result.spectrum;

  std::printf("verified: %s, computed by: %s\n", result.verified ? "yes" : "no", sfft::to_string(found.path));
  bool right = found.values.size() == 3;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const std::int64_t f = (*found.support)[i];
    std::printf("X[%lld] = %.1f\n", static_cast<long long>(f), std::abs(found.values[i]));
    right = right && f == tones[i] && std::abs(std::abs(found.values[i]) / static_cast<double>(n) - 1) < 1e-4;
  }
  return right ? 0 : 1;
}
