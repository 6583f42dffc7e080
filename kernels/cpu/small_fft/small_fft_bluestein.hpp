// SPDX-License-Identifier: Apache-2.0
// Lengths with large prime factors: Bluestein's chirp transform (IEEE Trans. Audio Electroacoust. 18, 1970).
#pragma once

#include <vector>

#include "kernels/base/memory_budget.hpp"
#include "kernels/cpu/small_fft/small_fft_line.hpp"

namespace sfft::detail::cpu {

/// X[k] = c[k] Σ_j (x[j] c[j]) conj(c[k−j]), c[j] = exp(−πi j²/n): a convolution by FFTs of a smooth length M
/// >= 2n − 1 on blocks of columns.
template <class Real>
struct LineFft<Real>::Bluestein {
  Bluestein(std::int64_t n, std::int64_t inner, Isa isa);

  /// Transforms (re, im) into (other_re, other_im).
  void execute(const SplitBuffers<Real>& data, const SplitBuffers<Real>& work) const;
  std::int64_t work_reals() const noexcept { return length_ * block_; }
  double flops() const noexcept;

 private:
  std::int64_t n_, inner_;
  std::int64_t length_;  ///< M
  std::int64_t block_;   ///< columns at a time
  const SmallFftKernels<Real>& kernels_;
  LineFft convolution_;
  CountedVector<Real> chirp_re_, chirp_im_;
  CountedVector<Real> kernel_re_, kernel_im_;  ///< FFT of conj(c), wrapped, over M
};

}  // namespace sfft::detail::cpu
