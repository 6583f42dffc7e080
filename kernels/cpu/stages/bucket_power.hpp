// SPDX-License-Identifier: Apache-2.0
// Stage "detect" of discovery: the power of every bucket over all delays.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

template <class Real>
struct BucketPowerKernels {
  /// power[b] += Σ_j re[b*lanes + j]² + im[b*lanes + j]² for b < buckets.
  void (*add_power)(const Real* re, const Real* im, std::int64_t buckets, std::int64_t lanes, Real* power);
};

template <class Real>
const BucketPowerKernels<Real>& bucket_power_kernels() noexcept;
template <>
const BucketPowerKernels<float>& bucket_power_kernels<float>() noexcept;
template <>
const BucketPowerKernels<double>& bucket_power_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
