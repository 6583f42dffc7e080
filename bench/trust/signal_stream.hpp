// SPDX-License-Identifier: Apache-2.0
// One synthetic sensor: tones that change from frame to frame, and noise.
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "bench/trust/random.hpp"
#include "bench/trust/stream.hpp"

namespace sfft::trust {

struct Tone {
  double frequency = 0;  ///< in bins; off the grid when it is not an integer
  double amplitude = 1;
  double phase = 0;
  double turn = 0;  ///< added to the phase per frame
};

/// Tones are complex exponentials, or cosines in a real signal.
struct SignalSettings {
  std::int64_t points = 4096;
  ElementType type = ElementType::c64;  ///< c64, c128, f32, f64
  std::vector<Tone> tones;              ///< tones of the first frame
  double noise = 0;                     ///< standard deviation per sample
  std::uint64_t seed = 1;
  /// Changes the tones of frame `index` > 0, starting from those of the frame before; phases have advanced.
  std::function<void(std::vector<Tone>& tones, std::int64_t index, Random& random)> evolve;
  /// Factors on the whole frame (0: silence) and on the noise alone; empty: 1.
  std::function<double(std::int64_t index)> gain, noise_gain;
};

std::unique_ptr<Stream> make_signal(SignalSettings settings);

}  // namespace sfft::trust
