// SPDX-License-Identifier: Apache-2.0
// dense::CompactPlan, store_compact and load_compact: a dense FFT of values that are stored in 16 bits.
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdio>
#include <span>
#include <vector>

#include "sfft/sfft.hpp"

int main() {
  namespace dense = sfft::dense;
  constexpr std::int64_t n = 1000;
  std::vector<float> signal(n);
  for (std::int64_t t = 0; t < n; ++t)
    signal[static_cast<std::size_t>(t)] = std::cos(0.3F * static_cast<float>(t));

  // The signal and its half spectrum take half the bytes of float.
  const dense::CompactPlan plan(sfft::Shape{n}, sfft::Domain::real);
  std::vector<std::byte> samples(plan.signal_bytes()), spectrum(plan.spectrum_bytes());
  std::vector<dense::CompactScale> from(1), to(1);
  from[0] = dense::store_compact(std::span<const float>(signal), dense::Storage::f16, samples);
  plan.forward(samples, from, spectrum, to);

  // X is the stored value times 2^exponent.
  std::vector<std::complex<float>> values(n / 2 + 1);
  dense::load_compact(spectrum, dense::Storage::f16, to[0],
                      std::span(reinterpret_cast<float*>(values.data()), 2 * values.size()));
  std::size_t largest = 0;
  for (std::size_t f = 0; f < values.size(); ++f) {
    if (std::abs(values[f]) > std::abs(values[largest])) largest = f;
  }
  std::printf("%zu bytes in, %zu bytes out; X[%zu] = %.1f, exponent %d, predicted error %.1e\n",
              samples.size(), spectrum.size(), largest, static_cast<double>(std::abs(values[largest])),
              to[0].exponent, to[0].relative_error);
  return largest == 48 && to[0].relative_error < 4e-4 ? 0 : 1;
}
