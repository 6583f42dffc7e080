// SPDX-License-Identifier: Apache-2.0
// Stage "permute" of the comb path: gathers the delayed combs of a frame into split lanes.
#pragma once

#include <cstdint>

#include "kernels/base/math/elements.hpp"

namespace sfft::detail::cpu {

template <class Real>
struct PermuteKernels {
  /// One row of a comb, for m in [0, count) and each lane l < lanes:
  ///   complex T: re, im[m*lanes + l] = base[m*stride + offsets[l]]
  ///   real T:    re[m*lanes + l] = base[m*stride + offsets[2l]], im[…] = base[m*stride + offsets[2l + 1]]
  /// so that one complex FFT carries two delays of a real frame. Indexed by ElementType.
  using Gather = void (*)(const void* base, std::int64_t count, std::int64_t stride,
                          const std::int64_t* offsets, std::int64_t lanes, Real* re, Real* im);
  Gather gather[kElementTypes];
  /// y[i] -= reference[i].
  void (*subtract)(Real* y, const Real* reference, std::int64_t count);
};

template <class Real>
const PermuteKernels<Real>& permute_kernels() noexcept;
template <>
const PermuteKernels<float>& permute_kernels<float>() noexcept;
template <>
const PermuteKernels<double>& permute_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
