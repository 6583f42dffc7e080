// SPDX-License-Identifier: Apache-2.0
// References for dense plans: direct sums over a batch, and half spectra.
#pragma once

#include <algorithm>
#include <complex>
#include <vector>

#include "sfft/types.hpp"
#include "tests/support/direct_dft.hpp"

namespace sfft::test {

using ComplexSignal = std::vector<std::complex<double>>;

template <class T>
std::vector<T> as_samples(const ComplexSignal& x) {
  std::vector<T> out;
  for (const auto& value : x) {
    if constexpr (is_complex(element_type_of<T>::value)) {
      out.push_back(T(value));
    } else {
      out.push_back(static_cast<T>(value.real()));
    }
  }
  return out;
}

/// Takes the half spectra of any number of real signals from their whole spectra.
inline ComplexSignal half_spectrum(const ComplexSignal& spectrum, const Shape& shape) {
  const std::int64_t row = shape[shape.rank() - 1];
  ComplexSignal kept;
  for (std::size_t first = 0; first < spectrum.size(); first += static_cast<std::size_t>(row)) {
    const auto begin = spectrum.begin() + static_cast<std::ptrdiff_t>(first);
    kept.insert(kept.end(), begin, begin + row / 2 + 1);
  }
  return kept;
}

/// Returns the spectra that a plan should compute for a batch of contiguous signals of any type.
template <class T>
ComplexSignal expected_spectra(const std::vector<T>& samples, const Shape& shape, bool real) {
  ComplexSignal all;
  for (auto first = samples.begin(); first != samples.end(); first += shape.points()) {
    const ComplexSignal one = direct_dft(ComplexSignal(first, first + shape.points()), shape.extents());
    all.insert(all.end(), one.begin(), one.end());
  }
  return real ? half_spectrum(all, shape) : all;
}

}  // namespace sfft::test
