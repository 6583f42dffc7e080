// SPDX-License-Identifier: Apache-2.0
// Lengths whose prime factors are all small.
#pragma once

#include <cstdint>

namespace sfft::detail {

/// Whether n > 0 has no prime factor above `largest_prime`.
constexpr bool is_smooth(std::int64_t n, std::int64_t largest_prime = 13) noexcept {
  for (std::int64_t p = 2; p <= largest_prime && n > 1; ++p) {
    while (n % p == 0) n /= p;
  }
  return n == 1;
}

}  // namespace sfft::detail
