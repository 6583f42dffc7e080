// SPDX-License-Identifier: Apache-2.0
// learn() and Plan: learn the frequencies of a first frame, then transform later frames at those alone.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include "sfft/sfft.hpp"

namespace {

constexpr int kRows = 240, kColumns = 320;

/// A frame of two waves, whose brightness the caller sets, on a grey background.
std::vector<float> frame(double first, double second) {
  std::vector<float> pixels;
  for (int y = 0; y < kRows; ++y) {
    for (int x = 0; x < kColumns; ++x) {
      const double turns = 5.0 * y / kRows + 12.0 * x / kColumns;
      pixels.push_back(static_cast<float>(100 + first * std::cos(2 * std::numbers::pi * turns) +
                                          second * std::sin(2 * std::numbers::pi * 31 * x / kColumns)));
    }
  }
  return pixels;
}

}  // namespace

int main() {
  const sfft::Shape shape{kRows, kColumns};
  const std::vector<float> first = frame(20, 8), next = frame(35, 3);

  // Three frequencies: f = 0 and the two waves. A real signal keeps one of each conjugate pair.
  const sfft::Template tmpl = sfft::learn(sfft::SignalView(first, shape), {.keep = sfft::Largest{3}});

  // Planning is done once. The plan is immutable; threads share it, each with its own workspace.
  const sfft::Plan<float> plan(tmpl);
  std::printf("%s\n", plan.explain().c_str());
  sfft::Workspace workspace = plan.make_workspace();
  sfft::Spectrum<float> spectrum = plan.make_spectrum();

  plan.execute(sfft::SignalView(next, shape), spectrum, workspace);  // allocates nothing
  double largest = 0;
  for (std::size_t i = 0; i < spectrum.values.size(); ++i) {
    const std::int64_t f = (*spectrum.support)[i];
    std::printf("X[%3lld, %3lld] = %10.1f %+10.1fi  ± %.2g\n", static_cast<long long>(f / kColumns),
                static_cast<long long>(f % kColumns), static_cast<double>(spectrum.values[i].real()),
                static_cast<double>(spectrum.values[i].imag()),
                static_cast<double>(spectrum.standard_error[i]));
    if (f != 0) largest = std::max(largest, static_cast<double>(std::abs(spectrum.values[i])));
  }

  // A cosine of amplitude a has |X| = a N / 2.
  const double expected = 35.0 * kRows * kColumns / 2;
  return std::abs(largest / expected - 1) < 1e-3 ? 0 : 1;
}
