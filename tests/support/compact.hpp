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
};

inline std::size_t bytes_of(dense::Storage storage) {
  return dense::is_16_bit(storage) ? 2 : 4;
}

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
  array.bytes.resize(parts.size() * bytes_of(storage));
  const std::size_t each = parts.size() / batch, bytes = each * bytes_of(storage);
  for (std::size_t b = 0; b < batch; ++b)
    array.scales.push_back(store_compact(std::span(parts).subspan(b * each, each), storage,
                                         std::span(array.bytes).subspan(b * bytes, bytes)));
  return array;
}

inline std::vector<double> loaded(const CompactArray& array, dense::Storage storage) {
  std::vector<double> parts(array.bytes.size() / bytes_of(storage));
  const std::size_t batch = array.scales.size(), each = parts.size() / batch,
                    bytes = array.bytes.size() / batch;
  for (std::size_t b = 0; b < batch; ++b)
    load_compact(std::span(array.bytes).subspan(b * bytes, bytes), storage, array.scales[b],
                 std::span(parts).subspan(b * each, each));
  return parts;
}

/// Room for what a plan writes, filled with a pattern that is a NaN in every format.
inline CompactArray room_for(std::size_t bytes, std::int64_t batch) {
  return {std::vector<std::byte>(bytes, std::byte{0xff}),
          std::vector<dense::CompactScale>(static_cast<std::size_t>(batch))};
}

inline CompactArray forward(const dense::CompactPlan& plan, const CompactArray& signal) {
  CompactArray spectrum = room_for(plan.spectrum_bytes(), plan.options().dense.batch);
  plan.forward(signal.bytes, signal.scales, spectrum.bytes, spectrum.scales);
  return spectrum;
}
inline CompactArray inverse(const dense::CompactPlan& plan, const CompactArray& spectrum) {
  CompactArray signal = room_for(plan.signal_bytes(), plan.options().dense.batch);
  plan.inverse(spectrum.bytes, spectrum.scales, signal.bytes, signal.scales);
  return signal;
}

}  // namespace sfft::test
