// SPDX-License-Identifier: Apache-2.0
// discover(): finds an unknown support as transform() does, and also reports how the answer was checked.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <random>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  constexpr std::int64_t n = 1 << 19;
  const std::int64_t tone = 54321;
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 0.01);
  std::vector<std::complex<double>> signal(n);
  for (std::int64_t t = 0; t < n; ++t) {
    const double turns = static_cast<double>(tone * t % n) / static_cast<double>(n);
    signal[static_cast<std::size_t>(t)] =
        std::polar(1.0, 2 * std::numbers::pi * turns) + std::complex(noise(random), noise(random));
  }

  // With dense_fallback = false there is never a dense transform; look at `verified` instead.
  const sfft::Discovery found =
      sfft::discover(sfft::SignalView::line(signal), {.k = 1, .dense_fallback = false});

  std::printf("verified       %s\n", found.verified ? "yes" : "no");
  std::printf("samples read   %lld of %lld, %lld of them to check the answer\n",
              static_cast<long long>(found.samples), static_cast<long long>(n),
              static_cast<long long>(found.check_samples));
  std::printf("not seen       bursts shorter than %lld samples\n",
              static_cast<long long>(found.shortest_burst));
  std::printf("relative error %.2g\n", found.spectrum.quality.relative_error);
  const bool right = found.spectrum.values.size() == 1 && found.spectrum.support->front() == tone;
  return found.verified && right && found.samples < n ? 0 : 1;
}
