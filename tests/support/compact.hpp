// SPDX-License-Identifier: Apache-2.0
// Compact values in tests: stored from doubles, and read back as doubles that keep their exponents.
#pragma once

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

#include "sfft/dense_compact.hpp"

namespace sfft::test {

/// Values of a batch, with one scale for each transform.
struct CompactArray {
  std::vector<std::byte> bytes;
  std::vector<dense::CompactScale> scales;
  std::size_t values = 0;  ///< per transform; real and imaginary parts count separately
};

/// Real parts alone, or real and imaginary parts.
inline std::vector<double> parts_of(const std::vector<std::complex<double>>& values, bool real) {
  std::vector<double> parts;
  for (const auto& value : values) {
    parts.push_back(value.real());
    if (!real) parts.push_back(value.imag());
  }
  return parts;
}

inline std::vector<std::complex<double>> complex_of(const std::vector<double>& parts, bool real) {
  std::vector<std::complex<double>> values;
  for (std::size_t i = 0; i < parts.size(); i += real ? 1 : 2)
    values.emplace_back(parts[i], real ? 0 : parts[i + 1]);
  return values;
}

/// `parts` of `batch` transforms.
inline CompactArray stored(const std::vector<double>& parts, std::size_t batch, dense::Storage storage) {
  CompactArray array;
  array.values = parts.size() / batch;
  const std::size_t bytes = dense::compact_bytes(array.values, storage);
  array.bytes.resize(batch * bytes);
  for (std::size_t b = 0; b < batch; ++b)
    array.scales.push_back(store_compact(std::span(parts).subspan(b * array.values, array.values), storage,
                                         std::span(array.bytes).subspan(b * bytes, bytes)));
  return array;
}

inline std::vector<double> loaded(const CompactArray& array, dense::Storage storage) {
  const std::size_t batch = array.scales.size(), bytes = array.bytes.size() / batch;
  std::vector<double> parts(batch * array.values);
  for (std::size_t b = 0; b < batch; ++b)
    load_compact(std::span(array.bytes).subspan(b * bytes, bytes), storage, array.scales[b],
                 std::span(parts).subspan(b * array.values, array.values));
  return parts;
}

/// Memory for a plan's signals or spectra, filled with a pattern that is a NaN in every floating-point
/// format.
inline CompactArray room_for_signals(const dense::CompactPlan& plan) {
  return {std::vector<std::byte>(plan.signal_bytes(), std::byte{0xff}),
          std::vector<dense::CompactScale>(static_cast<std::size_t>(plan.options().batch)),
          plan.signal_values()};
}
inline CompactArray room_for_spectra(const dense::CompactPlan& plan) {
  return {std::vector<std::byte>(plan.spectrum_bytes(), std::byte{0xff}),
          std::vector<dense::CompactScale>(static_cast<std::size_t>(plan.options().batch)),
          plan.spectrum_values()};
}

inline CompactArray forward(const dense::CompactPlan& plan, const CompactArray& signal) {
  CompactArray spectrum = room_for_spectra(plan);
  plan.forward(signal.bytes, signal.scales, spectrum.bytes, spectrum.scales);
  return spectrum;
}
inline CompactArray inverse(const dense::CompactPlan& plan, const CompactArray& spectrum) {
  CompactArray signal = room_for_signals(plan);
  plan.inverse(spectrum.bytes, spectrum.scales, signal.bytes, signal.scales);
  return signal;
}

}  // namespace sfft::test
