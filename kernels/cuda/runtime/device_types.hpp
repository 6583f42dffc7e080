// SPDX-License-Identifier: Apache-2.0
// Types that host code and kernels exchange.
#pragma once

#include <cstdint>

namespace sfft::detail::cuda {

/// A complex number that is loaded and stored whole. Same layout as std::complex.
template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
  Real re, im;
};

/// Element types of frames, numbered as sfft::ElementType.
enum class Element : int { u8, u16, f32, f64, c64, c128 };

/// One frame's error estimates: sfft::Quality in device memory.
struct DeviceErrors {
  double error_l2, relative_error, tail_energy, residual;
  std::int64_t finite;
};

/// Flags of a coefficient.
constexpr std::uint8_t kDistinctConjugate = 1;  ///< a real spectrum contains its conjugate as well
constexpr std::uint8_t kRealValue = 2;          ///< f = −f in a real frame: the value has no imaginary part
constexpr std::uint8_t kMean = 4;               ///< f = 0, excluded from the sums of the error estimate

}  // namespace sfft::detail::cuda
