// SPDX-License-Identifier: Apache-2.0
// Computes the constants of the tuned kernels, in double.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/dense/tuned/plan/program.hpp"

namespace sfft::detail::tuned {

using Table = std::vector<std::complex<double>>;

/// exp(−2πi j·step/n) for j < count, within 2e-16 whatever n; roots that mirror each other agree to the last
/// bit, so that mirrored rows get the same results whichever block writes them.
Table roots(std::int64_t n, std::int64_t count, std::int64_t step = 1);

/// The roots that passes read (PassRoots). Those of fused butterflies are (re z, im z/re z) for roots z, with
/// |re z| kept away from 0: it is at least `least`. Products with im z/re z may be so much larger than
/// results.
Table pass_roots_of(const IntList& radices, Twiddles twiddles, int rows, double min);

/// What a convolution needs (Bluestein 1970, Rader 1968): `kernel` is the FFT, over the step's length, of
/// what is convolved with, divided by that length. For a step without twiddle factors it is the DFT of as
/// many dimensions as it has radices, in the order in which its passes leave their results.
struct Convolution {
  Table chirp;
  Table kernel;
  std::vector<int> gather, scatter;
};
Convolution convolution(const Step& step);

}  // namespace sfft::detail::tuned
