// SPDX-License-Identifier: Apache-2.0
// Computes the constants of the tuned kernels in double precision.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/dense/tuned/plan/program.hpp"

namespace sfft::detail::tuned {

using Table = std::vector<std::complex<double>>;

/// exp(−2πi j·step/n) for j < count, within 2e-16 for any n. Roots that mirror each other agree to the last
/// bit, so mirrored rows get the same results whichever block writes them.
Table roots(std::int64_t n, std::int64_t count, std::int64_t step = 1);

/// The roots that passes read (PassRoots). For a root z, a fused butterfly reads (re z, im z/re z). |re z| is
/// kept at or above `min`, because products with im z/re z may be larger than results by its reciprocal.
Table pass_roots_of(const IntList& radices, Twiddles twiddles, int rows, double min);

/// The tables of a convolution (Bluestein 1970, Rader 1968). `kernel` is the FFT of the convolution's second
/// operand over the step's length, divided by that length. For a step without twiddle factors, it is a DFT
/// with one dimension per radix, in the order in which the passes leave their results.
struct Convolution {
  Table chirp;
  Table kernel;
  std::vector<int> gather, scatter;
};
Convolution convolution(const Step& step);

}  // namespace sfft::detail::tuned
