// SPDX-License-Identifier: Apache-2.0
// Tracker: transforms a stream of frames and renews its template when the scene changes.
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <random>
#include <vector>

#include "sfft/sfft.hpp"

namespace {

constexpr int kRows = 96, kColumns = 128;

/// Noise and a wave of `cycles` cycles per row, which fades in and out.
std::vector<float> frame(int index, int cycles) {
  std::mt19937 random(static_cast<unsigned>(index));
  std::normal_distribution<double> noise(0, 0.05);
  const double brightness = 20 + 5 * std::sin(0.1 * index);
  std::vector<float> pixels;
  for (int y = 0; y < kRows; ++y) {
    for (int x = 0; x < kColumns; ++x) {
      const double wave = std::cos(2 * std::numbers::pi * cycles * x / kColumns);
      pixels.push_back(static_cast<float>(brightness * wave + noise(random)));
    }
  }
  return pixels;
}

}  // namespace

int main() {
  const sfft::Shape shape{kRows, kColumns};
  const std::vector<float> first = frame(0, 7);
  const sfft::Template tmpl = sfft::learn(sfft::SignalView(first, shape), {.keep = sfft::Largest{4}});

  sfft::Tracker<float> tracker(tmpl);
  double last_error = 1;
  for (int index = 1; index <= 60; ++index) {
    const std::vector<float> pixels = frame(index, index < 30 ? 7 : 11);  // the scene changes at frame 30
    const sfft::Tracker<float>::Frame& tracked = tracker.push(sfft::SignalView(pixels, shape));
    if (tracked.action != sfft::TrackedFrame::Action::sparse)
      std::printf("frame %d: %s: %s\n", index, sfft::to_string(tracked.action), tracked.reason.c_str());
    last_error = tracked.spectrum.quality.relative_error;
  }
  std::printf("refreshed %lld, relearned %lld; the last frame reports an error of %.2g\n",
              static_cast<long long>(tracker.refreshed()), static_cast<long long>(tracker.relearned()),
              last_error);

  // The current template contains the new wave.
  bool follows = false;
  for (const std::int64_t f : tracker.current_template().support()) follows = follows || f % kColumns == 11;
  return follows && last_error < 0.05 ? 0 : 1;
}
