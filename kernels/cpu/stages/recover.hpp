// SPDX-License-Identifier: Apache-2.0
// Stage "recover" of the comb path: the k×r multiply-add and the tail's power.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

template <class Real>
struct RecoverKernels {
  /// values[2i, 2i+1] = Σ_l α_il Z_l[bucket_i], where Z_l[b] = re, im[b*lanes + l] and α_i is at weights +
  /// i*2*lanes: lanes real parts, then lanes imaginary parts.
  void (*recover_complex)(const Real* re, const Real* im, std::int64_t lanes, const std::int32_t* bucket,
                          const Real* weights, std::int64_t k, Real* values);
  /// For real frames, with two delays per lane: values_i = Σ_l α_il Z_l[bucket_i] + β_il
  /// conj(Z_l[mirror_i]). α_re, α_im, β_re and β_im, `lanes` reals each, are at weights + i*4*lanes.
  void (*recover_real)(const Real* re, const Real* im, std::int64_t lanes, const std::int32_t* bucket,
                       const std::int32_t* mirror, const Real* weights, std::int64_t k, Real* values);
  /// Σ_i weight_i (re_i² + im_i²) over count elements. A NaN makes the sum NaN, even with weight 0.
  double (*weighted_power)(const Real* re, const Real* im, const Real* weight, std::int64_t count);
};

template <class Real>
const RecoverKernels<Real>& recover_kernels() noexcept;
template <>
const RecoverKernels<float>& recover_kernels<float>() noexcept;
template <>
const RecoverKernels<double>& recover_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
