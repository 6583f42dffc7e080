// SPDX-License-Identifier: Apache-2.0
// A program that uses an installed sfft: learns a template, transforms a second frame, and checks one
// coefficient against its definition.
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  constexpr int n = 4096;
  const auto tone = [](double amplitude) {
    std::vector<float> x(n);
    for (int t = 0; t < n; ++t) {
      x[static_cast<std::size_t>(t)] =
          static_cast<float>(amplitude * std::cos(2 * std::numbers::pi * 37 * t / n));
    }
    return x;
  };
  const std::vector<float> first = tone(1);
  const std::vector<float> second = tone(3);
  const sfft::Template tmpl = sfft::learn(sfft::SignalView::line(first), {.keep = sfft::Largest{1}});
  const sfft::Spectrum<double> spectrum = sfft::transform(sfft::SignalView::line(second), tmpl);
  const double error = std::abs(spectrum.values[0] - std::complex<double>(3.0 * n / 2, 0));
  std::printf("sfft %s: X[%lld] = %.3f, error %.2g\n", sfft::version(),
              static_cast<long long>(tmpl.support()[0]), spectrum.values[0].real(), error);
  return tmpl.support()[0] == 37 && error < 1e-2 ? 0 : 1;
}
