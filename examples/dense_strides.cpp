// SPDX-License-Identifier: Apache-2.0
// dense::Options::signal_strides: transforms columns in place in an interleaved array, without copying them
// to a contiguous array first.
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  // 256 samples of 4 channels, interleaved as a recorder writes them: channel c has 2 + c cycles.
  constexpr std::int64_t samples = 256, channels = 4;
  std::vector<float> recording;
  for (std::int64_t t = 0; t < samples; ++t) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const double turns = static_cast<double>((2 + c) * t) / static_cast<double>(samples);
      recording.push_back(static_cast<float>(std::cos(2 * std::numbers::pi * turns)));
    }
  }

  // Sample t of channel c is element t * channels + c.
  sfft::dense::Options options;
  options.batch = channels;
  options.signal_strides = {.dims = {channels, 0, 0}, .batch = 1};
  const sfft::dense::Plan<float> plan(sfft::Shape{samples}, sfft::Domain::real, options);
  std::vector<std::complex<float>> spectra(plan.spectrum_points());
  plan.forward(recording.data(), sfft::ElementType::f32, spectra);

  bool right = true;
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto* spectrum = spectra.data() + c * (samples / 2 + 1);
    std::int64_t largest = 0;
    for (std::int64_t f = 0; f <= samples / 2; ++f)
      if (std::abs(spectrum[f]) > std::abs(spectrum[largest])) largest = f;
    std::printf("channel %lld: %lld cycles\n", static_cast<long long>(c), static_cast<long long>(largest));
    right = right && largest == 2 + c;
  }
  return right ? 0 : 1;
}
