// SPDX-License-Identifier: Apache-2.0
// Division of 31-bit indices by a constant of the plan: a multiplication and a shift.
#pragma once

#include <cstdint>

#include "kernels/base/math/portable.hpp"

namespace sfft::detail {

/// Quotients of 0 <= a < 2^31 by 1 <= divisor < 2^31, exact. Source: Granlund and Montgomery, Division by
/// Invariant Integers Using Multiplication (PLDI 1994), with ⌈2^(31+s)/d⌉ for s = ⌈log2 d⌉.
struct FastDivisor {
  std::uint32_t divisor = 1;
  std::uint32_t multiplier = 0x80000000U;
  std::uint32_t shift = 31;

  FastDivisor() = default;
  explicit FastDivisor(std::uint32_t d) : divisor(d), shift(31) {
    std::uint32_t bits = 0;
    while ((std::uint64_t{1} << bits) < d) ++bits;
    shift = 31 + bits;
    multiplier = static_cast<std::uint32_t>(((std::uint64_t{1} << shift) + d - 1) / d);
  }

  SFFT_HOST_DEVICE std::uint32_t divide(std::uint32_t a) const {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(a) * multiplier) >> shift);
  }
};

}  // namespace sfft::detail
