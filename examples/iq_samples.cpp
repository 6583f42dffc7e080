// SPDX-License-Identifier: Apache-2.0
// ElementType::cs16: finds the carriers in a file of 16-bit I/Q samples as a receiver writes it.
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <numbers>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  constexpr std::int64_t n = 1 << 16;
  std::vector<std::complex<std::int16_t>> samples(n);
  for (std::int64_t t = 0; t < n; ++t) {  // two carriers, at −5000 and 1250 cycles
    const double turn = 2 * std::numbers::pi * static_cast<double>(t) / n;
    const std::complex<double> x = 12000.0 * std::polar(1.0, -5000 * turn) + std::polar(900.0, 1250 * turn);
    samples[static_cast<std::size_t>(t)] = {static_cast<std::int16_t>(std::lround(x.real())),
                                            static_cast<std::int16_t>(std::lround(x.imag()))};
  }
  std::ofstream("radio.ci16", std::ios::binary).write(reinterpret_cast<const char*>(samples.data()), 4 * n);

  std::vector<std::complex<std::int16_t>> read(n);
  std::ifstream("radio.ci16", std::ios::binary).read(reinterpret_cast<char*>(read.data()), 4 * n);
  const auto peaks = sfft::discover(sfft::SignalView::line(read), {.k = 2}).spectrum;
  for (std::size_t i = 0; i < 2; ++i)  // 1250: 900.0, then -5000: 12000.0
    std::printf("%.0f: %.1f\n", peaks.frequency(i, n), peaks.amplitude(i));
  return std::abs(peaks.amplitude(0) - 900) < 1 && peaks.frequency(1, n) == -5000 ? 0 : 1;
}
