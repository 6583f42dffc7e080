// SPDX-License-Identifier: Apache-2.0
// The output hook of forward transforms: it keeps or drops an element instead of storing it.
#pragma once

#include "kernels/cuda/spectrum/kept_part.cuh"

namespace sfft::device {

/// Rounds after each product: with fused multiply-adds |a + ib|² and |b + ia|² would differ, but
/// they must tie.
__device__ __forceinline__ float power_of(float re, float im) {
  return __fadd_rn(__fmul_rn(re, re), __fmul_rn(im, im));
}
__device__ __forceinline__ double power_of(double re, double im) {
  return __dadd_rn(__dmul_rn(re, re), __dmul_rn(im, im));
}

/// `spectrum`: elements per spectrum. NaN counts as above every level, so that it stays visible.
template <Keep kKeep, class Value, class Real>
__device__ __forceinline__ void keep(const KeptPart& part, long long element, long long spectrum, Real re,
                                     Real im) {
  element += part.first;
  if constexpr (kKeep == Keep::power) {
    static_cast<Real*>(part.values)[element] = power_of(re, im);
  } else if constexpr (kKeep == Keep::above) {
    if (power_of(re, im) <= static_cast<Real>(part.min_power)) return;
    const auto slot = static_cast<long long>(atomicAdd(part.count, 1ull));
    if (slot >= part.capacity) return;
    part.indices[slot] = element;
    static_cast<Value*>(part.values)[slot] = {re, im};
  } else {
    const long long of = element / spectrum;
    const auto e = static_cast<unsigned long long>(element - of * spectrum);
    const unsigned word = part.chosen[e / 32], bit = 1u << (e % 32);
    if ((word & bit) == 0) return;
    static_cast<Value*>(part.values)[of * part.kept + part.before[e / 32] + __popc(word & (bit - 1))] = {re,
                                                                                                         im};
  }
}

}  // namespace sfft::device
