// SPDX-License-Identifier: Apache-2.0
// dense::Plan: the whole spectrum of a batch of signals, forward and inverse.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  // Three real signals of 1000 points, one after another. A real signal's spectrum is its first half.
  constexpr std::int64_t n = 1000, batch = 3;
  std::vector<float> signals;
  for (std::int64_t t = 0; t < batch * n; ++t)
    signals.push_back(static_cast<float>(std::sin(0.01 * static_cast<double>(t * t % 997))));

  const sfft::dense::Plan<float> plan(sfft::Shape{n}, sfft::Domain::real, {.batch = batch});
  std::printf("%s: %s\n", plan.engine_name().c_str(), plan.reason().c_str());
  std::vector<std::complex<float>> spectra(plan.spectrum_points());  // batch × (n / 2 + 1)
  plan.forward(signals.data(), sfft::ElementType::f32, spectra);

  // By default inverse transforms are scaled by 1/N: this returns the signals.
  std::vector<float> again(plan.signal_points());
  plan.inverse(spectra, again);
  double error = 0;
  for (std::size_t i = 0; i < signals.size(); ++i)
    error = std::max(error, static_cast<double>(std::abs(again[i] - signals[i])));
  std::printf("%zu coefficients; largest difference after the inverse: %.2g\n", spectra.size(), error);
  return spectra.size() == batch * (n / 2 + 1) && error < 1e-5 ? 0 : 1;
}
