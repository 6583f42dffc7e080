// SPDX-License-Identifier: Apache-2.0
// Short rows that are transformed together. They are transposed, so that vectors span several rows.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/small_fft/small_fft_line.hpp"
#include "kernels/dense/cpu/line_stage.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// FFTs of `rows` contiguous rows of n values, in split layout. Two real rows of a signal become the real and
/// imaginary parts of one complex row; if the number of rows is odd, one row is in two pairs. Use this only
/// for rows of one transform, since a non-finite value spreads to the other row of a pair. Immutable,
/// thread-safe.
template <class Real>
class RowGroup {
 public:
  RowGroup(std::int64_t n, std::int64_t rows, bool real);

  /// Whether the rows are expected to be faster together than separately.
  static bool worthwhile(std::int64_t n, std::int64_t rows, bool real);

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t spectrum_points() const noexcept { return real_ ? n_ / 2 + 1 : n_; }
  /// Reals in each of the four buffers.
  std::size_t buffer_reals() const noexcept;

  /// Transforms complex rows. Both functions read elements of `type` and return value f of row r at [f rows +
  /// r]. The inverse transform leaves real and imaginary parts exchanged.
  cpu::SplitBuffers<Real> spectra(const void* signal, ElementType type, bool inverse,
                                  cpu::SplitBuffers<Real> data) const;
  /// Transforms real rows.
  cpu::SplitBuffers<Real> half_spectra(const void* signal, ElementType type,
                                       cpu::SplitBuffers<Real> data) const;
  /// The inverse of half_spectra(), unnormalised and multiplied by `scale`: reads value f of row r at [f rows
  /// + r] of data.re and data.im.
  void signals(cpu::SplitBuffers<Real> data, Real scale, Real* to) const;

  /// Reals in the workspace of forward() and inverse(). These treat all rows like RowStage treats one.
  std::size_t workspace_reals() const noexcept { return SplitWorkspace<Real>::total(buffer_reals()); }
  void forward(const void* signal, ElementType type, std::complex<Real>* spectra, std::byte* workspace) const;
  void inverse(const std::complex<Real>* spectra, std::complex<Real>* signal, Real scale,
               std::byte* workspace) const;
  void inverse(const std::complex<Real>* spectra, Real* signal, Real scale, std::byte* workspace) const;

 private:
  cpu::SplitBuffers<Real> buffers(std::byte* workspace) const;
  cpu::SplitBuffers<Real> run(cpu::SplitBuffers<Real> data) const;

  std::int64_t n_, rows_;
  bool real_;
  std::int64_t lanes_;  ///< complex rows transformed together
  const cpu::SmallFftKernels<Real>* kernels_;
  cpu::LineFft<Real> line_;
};

/// Transposes both parts of data.re, data.im, which have rows × columns values. Returns where the results
/// are.
template <class Real>
cpu::SplitBuffers<Real> transposed(const cpu::SmallFftKernels<Real>& kernels, std::int64_t rows,
                                   std::int64_t columns, const cpu::SplitBuffers<Real>& data) {
  kernels.transpose(data.re, rows, columns, data.other_re);
  kernels.transpose(data.im, rows, columns, data.other_im);
  return {data.other_re, data.other_im, data.re, data.im};
}

/// Exchanges real and imaginary parts, so that a forward transform of the result is an inverse one.
template <class Real>
cpu::SplitBuffers<Real> exchanged(const cpu::SplitBuffers<Real>& data) {
  return {data.im, data.re, data.other_im, data.other_re};
}

extern template class RowGroup<float>;
extern template class RowGroup<double>;

}  // namespace sfft::detail
