// The output hook of forward transforms: an element is kept or forgotten instead of stored.
#pragma once

#include "kernels/cuda/kept_part.cuh"

namespace sfft::device {

/// `spectrum`: elements of one. NaN counts as above everything, so that it is seen.
template <Keep kKeep, class Value, class Real>
__device__ __forceinline__ void keep(const KeptPart& part, long long element, long long spectrum, Real re,
                                     Real im) {
  element += part.first;
  if constexpr (kKeep == Keep::above) {
    if (re * re + im * im <= static_cast<Real>(part.least_power)) return;
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
