// SPDX-License-Identifier: Apache-2.0
// The small FFT along one dimension.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cpu/small_fft/small_fft_kernels.hpp"
#include "kernels/cpu/small_fft/small_fft_radix.hpp"
#include "kernels/runtime/memory_budget.hpp"

namespace sfft::detail::cpu {

/// Two pairs of split buffers that the passes alternate between.
template <class Real>
struct SplitBuffers {
  Real *re, *im, *other_re, *other_im;
};

/// Complex values that an FFT reads and writes: rows of `inner` values, whose starts are `pitch` values
/// apart.
template <class Real>
struct ComplexEnds {
  const Real* from;  ///< null: from split buffers
  std::int64_t from_pitch;
  Real* to;  ///< null: to split buffers; `scale` and `inverse` then do not apply
  std::int64_t to_pitch;
  Real scale;    ///< multiplies the result
  bool inverse;  ///< exp(+2 pi i)
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
  /// The number of reals in each of the four buffers of `work`; execute() needs them for large prime factors.
  std::int64_t work_reals() const noexcept;
  bool execute(const SplitBuffers<Real>& data, const SplitBuffers<Real>& work) const;
  /// Whether the first pass can read the complex values and the last pass can write them. In general they can
  /// if rows are at least as long as vectors.
  bool can(const ComplexEnds<Real>& ends) const noexcept;
  /// Transforms complex values, or data.re and data.im, into complex values or into split buffers. Returns
  /// the split buffers; if the result is in them, it is in re and im.
  SplitBuffers<Real> execute(const ComplexEnds<Real>& ends, SplitBuffers<Real> data) const;
  double flops() const noexcept;

 private:
  struct Bluestein;
  struct Step {
    Pass<Real> run;
    std::int64_t m, s, radix;
    std::size_t first_root;
    PassKind kind;
  };
  /// Whether rows are written without gaps, in ascending order.
  bool whole(const ComplexEnds<Real>& ends) const noexcept {
    return ends.to_pitch == inner_ && !ends.inverse;
  }
  static void run(const Step& step, const Real* roots, const SplitBuffers<Real>& data) {
    step.run(data.re, data.im, data.other_re, data.other_im, step.m, step.s, step.radix, roots);
  }
  void add_step(const PassChoice& pass, const SmallFftKernels<Real>& kernels);

  std::int64_t n_, inner_;
  const SmallFftKernels<Real>* kernels_;
  std::vector<Step> steps_;
  CountedVector<Real> roots_;
  double flops_ = 0;
  std::unique_ptr<const Bluestein> bluestein_;
};

extern template class LineFft<float>;
extern template class LineFft<double>;

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
