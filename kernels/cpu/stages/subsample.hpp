// SPDX-License-Identifier: Apache-2.0
// Stage "subsample" of the flat-window path: multiplies the gathered taps by the window and aliases them into
// the buckets.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

template <class Real>
struct SubsampleKernels {
  /// out[i] = Σ_a taps[a*count + i] * window[a*count + i] for i < count and a < folds; the window is repeated
  /// for each lane. `out` may not overlap the others.
  void (*fold)(const Real* taps, const Real* window, std::int64_t count, std::int64_t folds, Real* out);
};

template <class Real>
const SubsampleKernels<Real>& subsample_kernels() noexcept;
template <>
const SubsampleKernels<float>& subsample_kernels<float>() noexcept;
template <>
const SubsampleKernels<double>& subsample_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
