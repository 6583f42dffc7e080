// SPDX-License-Identifier: Apache-2.0
// How a block transforms a small grid in shared memory: Stockham passes, one dimension after the other.
//
// A pass of radix R on a dimension of n points views the array as [outer][n][inner]. S is inner times the
// product of this dimension's earlier radices, and m = n·inner/(R·S). For p < m and c < S it computes
//   y[c + S(R p + r)] = w_{Rm}^{p r} Σ_j w_R^{j r} x[c + S(p + m j)],   w_n = exp(−2πi/n),
// within each outer block. Source: Stockham's self-sorting form, Van Loan (1992), 1.7.
#pragma once

#include "kernels/base/math/fast_divisor.hpp"

namespace sfft::detail::cuda {

constexpr int kMaxPasses = 18;

struct FftPass {
  int radix = 1;
  int m = 1;          ///< twiddle index range
  int stride = 1;     ///< S
  int columns = 1;    ///< m·S, the butterflies of one outer block
  int twiddles = -1;  ///< start in the table, entries (r−1)·m + p; −1: none
  int roots = -1;     ///< start of w_R^j in the table, for radices without a butterfly
  FastDivisor by_columns, by_stride, by_butterflies;  ///< the last one divides by points/radix
};

/// Passes over a grid, last dimension first; the first has a stride of 1 and a butterfly, so that samples can
/// be gathered straight into its registers. Plain data, passed to kernels by value.
struct FftSchedule {
  int points = 1;
  int passes = 0;
  int first_twiddles = 0;  ///< entries of the first pass, at the start of the table
  int table_size = 0;
  FftPass pass[kMaxPasses];
};

}  // namespace sfft::detail::cuda
