// SPDX-License-Identifier: Apache-2.0
// dense::Layout: transforms the middle axis of an array, without 64 calls and without transposed results.
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  // 64 sensors × 1000 samples × 16 beams: beam b of every sensor has 10 + b cycles.
  constexpr std::int64_t sensors = 64, samples = 1000, beams = 16;
  std::vector<float> cube;
  for (std::int64_t i = 0; i < sensors * samples * beams; ++i) {
    const double cycles = static_cast<double>(10 + i % beams), t = static_cast<double>(i / beams % samples);
    cube.push_back(static_cast<float>(std::cos(2 * std::numbers::pi * cycles * t / samples)));
  }
  const auto middle = sfft::dense::Layout::of_axes({sensors, samples, beams}, {1}, sfft::Domain::real);
  const sfft::dense::Plan<float> plan(middle, sfft::Domain::real);
  std::vector<std::complex<float>> spectra(plan.spectrum_points());  // 64 × 501 × 16
  plan.forward(cube.data(), sfft::ElementType::f32, spectra);

  const auto at = [&](std::int64_t f, std::int64_t b) { return spectra[(5 * 501 + f) * beams + b].real(); };
  std::printf("sensor 5, beam 3: %.0f at 13 cycles, %.0f at 12\n", at(13, 3), at(12, 3) + 0.0);
  return std::abs(at(13, 3) - samples / 2) < 1 ? 0 : 1;
}
