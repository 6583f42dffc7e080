// SPDX-License-Identifier: Apache-2.0
// FFTs of 16 and 32 complex values, interleaved as in memory: a line fills so few vectors that it need not leave
// the registers.
#pragma once

#include <cstdint>

namespace sfft::detail::cpu {

/// `count` lines that begin `stride` and `to_stride` complex values apart. `to` may be the same memory as `from`
/// where the strides are equal.
template <class Real>
using ShortLines = void (*)(const Real* from, std::int64_t stride, Real* to, std::int64_t to_stride,
                            std::int64_t count, Real scale);

template <class Real>
struct ShortLineKernels {
  ShortLines<Real> forward[2] = {}, inverse[2] = {};  ///< of 16 and of 32 points; null: there are none

  /// Null for other lengths, too.
  ShortLines<Real> of(std::int64_t n, bool back) const noexcept {
    if (n != 16 && n != 32) return nullptr;
    return (back ? inverse : forward)[n == 32 ? 1 : 0];
  }
};

template <class Real>
const ShortLineKernels<Real>& short_line_kernels() noexcept;
template <>
const ShortLineKernels<float>& short_line_kernels<float>() noexcept;
template <>
const ShortLineKernels<double>& short_line_kernels<double>() noexcept;

}  // namespace sfft::detail::cpu
