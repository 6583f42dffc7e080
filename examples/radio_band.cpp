// SPDX-License-Identifier: Apache-2.0
// discover() on a radio band: finds the carriers in complex samples without any prior knowledge.
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <random>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  // 2^20 complex samples at 2^20 per second, so a bin is 1 Hz. Frequencies are relative to the receiver's
  // centre.
  constexpr std::int64_t n = 1 << 20;
  const std::vector<std::int64_t> carriers{-310000, 1250, 402117};
  std::mt19937 random(1);
  std::normal_distribution<float> noise(0, 0.02F);
  std::vector<std::complex<float>> samples(n);
  for (std::int64_t t = 0; t < n; ++t) {
    std::complex<double> value;
    for (const std::int64_t hz : carriers) {
      value += std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(hz * t % n) / n);
    }
    samples[static_cast<std::size_t>(t)] =
        std::complex<float>(value) + std::complex(noise(random), noise(random));
  }

  // Without k, discover() finds everything that stands out of the noise.
  const sfft::Discovery band = sfft::discover(sfft::SignalView::line(samples), {.dense_fallback = false});
  std::printf("%s, %lld of %lld samples read\n", band.verified ? "verified" : "not verified",
              static_cast<long long>(band.samples), static_cast<long long>(n));
  bool right = band.verified && band.spectrum.values.size() == carriers.size();
  for (std::size_t i = 0; i < band.spectrum.values.size(); ++i) {
    const std::int64_t index = (*band.spectrum.support)[i];
    const std::int64_t hz = index < n / 2 ? index : index - n;  // the upper half is negative frequencies
    const double amplitude =
        std::abs(band.spectrum.values[i]) / n;  // a complex tone of amplitude a has |X| = a N
    std::printf("%8lld Hz: amplitude %.3f\n", static_cast<long long>(hz), amplitude);
    bool expected = false;
    for (const std::int64_t carrier : carriers) expected = expected || carrier == hz;
    right = right && expected && std::abs(amplitude - 1) < 0.01;
  }
  return right ? 0 : 1;
}
