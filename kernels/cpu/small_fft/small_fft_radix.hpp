// SPDX-License-Identifier: Apache-2.0
// Which radices, in which order: the planning of one dimension's Stockham passes.
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
/// n. Empty when n = 1, and when n has a prime factor above kMaxOddRadix (`possible` is false then).
struct RadixPlan {
  bool possible = true;
  double cost = 0;
  std::vector<PassChoice> passes;
};

template <class Real>
RadixPlan choose_radices(std::int64_t n, std::int64_t inner, const SmallFftKernels<Real>& kernels);

}  // namespace sfft::detail::cpu
