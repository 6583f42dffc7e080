// SPDX-License-Identifier: Apache-2.0
// dense::SelectivePlan: a band of the spectrum, and the spectrum between its bins.
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  constexpr std::int64_t n = 100'000;
  constexpr double rate = 48'000, tone = 440.17;  // Hz
  std::vector<double> signal(n);
  for (std::int64_t t = 0; t < n; ++t)
    signal[static_cast<std::size_t>(t)] =
        std::cos(2 * std::numbers::pi * tone * static_cast<double>(t) / rate);

  // 101 neighbouring bins, 48 Hz in all. Find the strongest.
  std::vector<std::complex<double>> values(101);
  const auto strongest = [&] {
    std::size_t best = 0;
    for (std::size_t j = 0; j < values.size(); ++j)
      best = std::abs(values[j]) > std::abs(values[best]) ? j : best;
    return static_cast<double>(best);
  };
  const auto band = sfft::dense::SelectivePlan<double>::band(sfft::Shape{n}, sfft::Domain::real, 867, 101);
  band.forward_at(signal.data(), sfft::ElementType::f64, values);
  const double bin = 867 + strongest();

  // 101 frequencies within a bin of it.
  const auto zoom =
      sfft::dense::SelectivePlan<double>::zoom(sfft::Shape{n}, sfft::Domain::real, bin - 1, 0.02, 101);
  zoom.forward_at(signal.data(), sfft::ElementType::f64, values);
  const double found = (bin - 1 + 0.02 * strongest()) * rate / n;
  std::printf("bin %.0f is at %.2f Hz, the tone at %.2f Hz\n", bin, bin * rate / n, found);
  return std::abs(found - tone) < 0.01 ? 0 : 1;
}
