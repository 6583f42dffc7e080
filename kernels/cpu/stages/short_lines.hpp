// SPDX-License-Identifier: Apache-2.0
// FFTs of 4 to 128 interleaved complex values. A line fills few enough vectors to stay in registers.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

/// Transforms `count` lines, whose starts are `stride` complex values apart in `from` and `to_stride` apart
/// in `to`. `to` may equal `from` if the strides are equal.
template <class Real>
using ShortLines = void (*)(const Real* from, std::int64_t stride, Real* to, std::int64_t to_stride,
                            std::int64_t count, Real scale);

template <class Real>
struct ShortLineKernels {
  static constexpr int kLengths = 6;                                ///< 4, 8, 16, 32, 64, 128
  ShortLines<Real> forward[kLengths] = {}, inverse[kLengths] = {};  ///< null: no kernel

  /// The index of length n; kLengths if it is not among them.
  static constexpr int place(std::int64_t n) noexcept {
    int at = 0;
    while (at < kLengths && n != std::int64_t{4} << at) ++at;
    return at;
  }
  /// The kernel for length n; null if there is none.
  ShortLines<Real> of(std::int64_t n, bool back) const noexcept {
    const int at = place(n);
    return at == kLengths ? nullptr : (back ? inverse : forward)[at];
  }
};

template <class Real>
const ShortLineKernels<Real>& short_line_kernels() noexcept;
template <>
const ShortLineKernels<float>& short_line_kernels<float>() noexcept;
template <>
const ShortLineKernels<double>& short_line_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
