// SPDX-License-Identifier: Apache-2.0
// Looks a frequency up in a full or a half spectrum; the missing half is the conjugate of its mirror image.
#include "bench/trust/truth.hpp"

namespace sfft::trust {

std::complex<double> Truth::at(std::int64_t flat) const {
  if (plan_.domain() == Domain::complex) return spectrum_[static_cast<std::size_t>(flat)];
  // Half spectra keep columns 0 … n/2 of the last dimension; the others are conjugates of their mirror
  // images.
  const Shape& shape = plan_.shape();
  const int last = shape.rank() - 1;
  const std::int64_t columns = shape[last];
  const std::int64_t half = columns / 2 + 1;
  const std::int64_t column = flat % columns;
  std::int64_t row = flat / columns;
  if (column < half) return spectrum_[static_cast<std::size_t>(row * half + column)];
  std::int64_t mirrored = 0;
  std::int64_t stride = 1;
  for (int d = last - 1; d >= 0; --d) {
    mirrored += stride * ((shape[d] - row % shape[d]) % shape[d]);
    row /= shape[d];
    stride *= shape[d];
  }
  return std::conj(spectrum_[static_cast<std::size_t>(mirrored * half + columns - column)]);
}

}  // namespace sfft::trust
