// SPDX-License-Identifier: Apache-2.0
// dense::SelectivePlan: a full FFT that returns only the coefficients that you want.
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  constexpr std::int64_t n = 4096;
  std::vector<std::complex<float>> signal(n);
  for (std::int64_t t = 0; t < n; ++t) {
    const double turns = static_cast<double>(100 * t % n) / static_cast<double>(n);
    signal[static_cast<std::size_t>(t)] = std::polar(1.0, 2 * std::numbers::pi * turns);
  }
  signal[0] += 2;  // a click: |X| of about 2 at every frequency

  // Returns everything above a magnitude, which is an argument of each call.
  const auto above = sfft::dense::SelectivePlan<float>::above(sfft::Shape{n}, sfft::Domain::complex);
  const auto strong = above.forward_above(signal.data(), sfft::ElementType::c64, 100.0F);
  for (std::size_t i = 0; i < strong.indices.size(); ++i)
    std::printf("X[%lld] = %.1f\n", static_cast<long long>(strong.indices[i]),
                static_cast<double>(std::abs(strong.values[i])));

  // Returns the coefficients of a support.
  const std::vector<std::int64_t> support{99, 100, 101};
  const auto at = sfft::dense::SelectivePlan<float>::at(sfft::Shape{n}, sfft::Domain::complex, support);
  std::vector<std::complex<float>> values(support.size());
  at.forward_at(signal.data(), sfft::ElementType::c64, values);
  for (std::size_t i = 0; i < support.size(); ++i)
    std::printf("X[%lld] = %.3f\n", static_cast<long long>(support[i]),
                static_cast<double>(std::abs(values[i])));

  const bool one = strong.indices.size() == 1 && strong.indices[0] == 100;
  return one && std::abs(values[0] - 2.0F) < 0.01F && std::abs(values[1] - 4098.0F) < 0.1F ? 0 : 1;
}
