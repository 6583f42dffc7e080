// SPDX-License-Identifier: Apache-2.0
// Stage "recover" of the flat-window path: one short dot product for each coefficient and probe.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

/// Rows read `length` consecutive complex numbers of the bucket array from `start` on, split in re and im.
/// `length` is a multiple of kFlatRowAlign reals, padded with zero weights.
template <class Real>
inline constexpr std::int64_t kFlatRowAlign = 64 / static_cast<std::int64_t>(sizeof(Real));

template <class Real>
struct FlatRecoverKernels {
  /// values[2i, 2i+1] = Σ_q α_iq z[start_i + q], α_i at weights + i*2*length: `length` real parts, then
  /// imaginary parts.
  void (*read_complex)(const Real* re, const Real* im, const std::int32_t* start, const Real* weights,
                       std::int64_t length, std::int64_t rows, Real* values);
  /// For two real lines in each lane: values_i = Σ_q α_iq z[start_i + q] + β_iq conj(z[mirror_i + q]). α_re,
  /// α_im, β_re and β_im, `length` reals each, are at weights + i*4*length.
  void (*read_real)(const Real* re, const Real* im, const std::int32_t* start, const std::int32_t* mirror,
                    const Real* weights, std::int64_t length, std::int64_t rows, Real* values);
};

template <class Real>
const FlatRecoverKernels<Real>& flat_recover_kernels() noexcept;
template <>
const FlatRecoverKernels<float>& flat_recover_kernels<float>() noexcept;
template <>
const FlatRecoverKernels<double>& flat_recover_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
