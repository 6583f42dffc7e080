// SPDX-License-Identifier: Apache-2.0
// Half spectra without conjugate symmetry, of random shapes, and the signals that numpy.fft.irfftn defines.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <random>
#include <vector>

#include "sfft/types.hpp"
#include "tests/support/direct_dft.hpp"
#include "tests/support/half_spectra.hpp"
#include "tests/support/tolerance.hpp"

namespace sfft::test {

struct HalfSpectrum {
  Shape shape;
  std::int64_t batch = 1;
  std::vector<std::complex<double>> spectra;  ///< batch × (n1, …, nD/2 + 1)
  std::vector<double> signals;                ///< batch × (n1, …, nD)
};

/// One to three dimensions whose sides are even, odd, prime, powers of two or 1.
inline HalfSpectrum any_half_spectrum(unsigned seed) {
  std::mt19937 generator(seed);
  const auto draw = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(generator); };
  const int rank = draw(1, 3);
  std::vector<std::int64_t> extents;
  for (int d = 0; d < rank; ++d) {
    const int longest = rank == 1 ? 1500 : rank == 2 ? 48 : 16;
    extents.push_back(draw(0, 3) > 0 ? draw(1, longest) : std::int64_t{1} << draw(0, rank == 1 ? 10 : 4));
  }
  HalfSpectrum given{Shape(std::span<const std::int64_t>(extents)), draw(1, 3), {}, {}};
  const std::int64_t row = extents.back(), kept = given.shape.points() / row * (row / 2 + 1);
  for (std::int64_t b = 0; b < given.batch; ++b) {
    const auto spectrum =
        random_signal(static_cast<std::size_t>(kept), 100 * seed + static_cast<unsigned>(b));
    given.spectra.insert(given.spectra.end(), spectrum.begin(), spectrum.end());
    for (const auto& value : inverse_of_half_spectrum(spectrum, extents))
      given.signals.push_back(value.real());
  }
  return given;
}

}  // namespace sfft::test
