// SPDX-License-Identifier: Apache-2.0
// Small FFT plans shared by all callers. Discovery needs the same few sizes repeatedly, and computing their
// tables takes longer than a transform.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "kernels/cpu/small_fft/small_fft.hpp"

namespace sfft::detail::cpu {

/// The plan for these extents (1 if unused) and lanes, made on first use. Thread-safe. Keeps a bounded number
/// of plans of at most 2^20 values (grid × lanes); larger plans belong to the caller alone.
template <class Real>
std::shared_ptr<const SmallFft<Real>> shared_small_fft(const std::array<std::int64_t, 3>& grid,
                                                       std::int64_t lanes);

extern template std::shared_ptr<const SmallFft<float>> shared_small_fft<float>(
    const std::array<std::int64_t, 3>&, std::int64_t);
extern template std::shared_ptr<const SmallFft<double>> shared_small_fft<double>(
    const std::array<std::int64_t, 3>&, std::int64_t);

}  // namespace sfft::detail::cpu
