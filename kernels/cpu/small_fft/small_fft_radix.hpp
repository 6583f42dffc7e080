// SPDX-License-Identifier: Apache-2.0
// Plans the Stockham passes of one dimension: which radices, in which order.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/small_fft/small_fft_kernels.hpp"

namespace sfft::detail::cpu {

enum class PassKind { wide, last, narrow, odd };

/// One pass before its roots are filled in.
struct PassChoice {
  PassKind kind;
  int level;  ///< of wide, last and odd kernels
  std::int64_t radix;
  std::int64_t m, s;  ///< as in Pass
  double cost;        ///< in nanoseconds, roughly
};

/// The cheapest passes for length n over runs of `inner` reals, by dynamic programming over the divisors of
/// n. Empty if n = 1. If n has a prime factor above kMaxOddRadix, it is empty and `possible` is false.
struct RadixPlan {
  bool possible = true;
  double cost = 0;
  std::vector<PassChoice> passes;
};

template <class Real>
RadixPlan choose_radices(std::int64_t n, std::int64_t inner, const SmallFftKernels<Real>& kernels);

}  // namespace sfft::detail::cpu
