// SPDX-License-Identifier: Apache-2.0
// The small FFT along one dimension.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cpu/small_fft/small_fft.hpp"
#include "kernels/cpu/small_fft/small_fft_kernels.hpp"
#include "kernels/cpu/small_fft/small_fft_radix.hpp"

namespace sfft::detail::cpu {

/// Two pairs of split buffers that a pass reads and writes in turn.
template <class Real>
struct SplitBuffers {
  Real *re, *im, *other_re, *other_im;
};

/// FFTs of length n of `inner` interleaved columns: element m of column q at [m*inner + q].
template <class Real>
class LineFft {
 public:
  LineFft(std::int64_t n, std::int64_t inner, Isa isa);
  ~LineFft();
  LineFft(LineFft&&) noexcept;
  LineFft& operator=(LineFft&&) noexcept;

  /// Whether the result is in the other pair.
  bool toggles() const noexcept;
  /// Reals behind each of the four pointers of `work`, which execute() needs for lengths with large primes.
  std::int64_t work_reals() const noexcept;
  bool execute(const SplitBuffers<Real>& data, const SplitBuffers<Real>& work) const;
  /// From complex values, or data.re and data.im, to complex values. False, and nothing done, where it
  /// cannot.
  bool execute(const ComplexEnds<Real>& ends, SplitBuffers<Real> data) const;
  double flops() const noexcept;

 private:
  struct Bluestein;
  struct Step {
    Pass<Real> run;
    std::int64_t m, s, radix;
    std::size_t first_root;
  };
  static void run(const Step& step, const Real* roots, const SplitBuffers<Real>& data) {
    step.run(data.re, data.im, data.other_re, data.other_im, step.m, step.s, step.radix, roots);
  }
  void add_step(const PassChoice& pass, const SmallFftKernels<Real>& kernels);

  std::int64_t n_, inner_;
  const SmallFftKernels<Real>* kernels_;
  bool complex_ends_ = false;  ///< there are kernels for the first and the last pass
  std::vector<Step> steps_;
  std::vector<Real> roots_;
  double flops_ = 0;
  std::unique_ptr<const Bluestein> bluestein_;
};

extern template class LineFft<float>;
extern template class LineFft<double>;

}  // namespace sfft::detail::cpu
