// SPDX-License-Identifier: Apache-2.0
// Small transforms of a batch, computed together. The signals are transposed, so that vectors span several
// signals.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/cpu/small_fft/small_fft.hpp"
#include "kernels/cpu/small_fft/small_fft_line.hpp"
#include "kernels/cpu/stages/short_lines.hpp"
#include "kernels/runtime/memory_budget.hpp"
#include "sfft/types.hpp"

namespace sfft::detail {

/// Transforms `signals` signals of one shape, in the layouts of DenseEngine. All values of signal l are in
/// vector lane l, so non-finite values stay within their signal. Immutable, thread-safe.
template <class Real>
class SignalGroup {
  using Complex = std::complex<Real>;
  using Buffers = cpu::SplitBuffers<Real>;

 public:
  SignalGroup(const Shape& shape, bool real, std::int64_t signals);

  /// How many signals of a batch to group. Returns 1 if single transforms are expected to be as fast.
  static std::int64_t best_size(const Shape& shape, bool real, std::int64_t batch);

  std::int64_t signals() const noexcept { return signals_; }
  /// Bytes of the workspace, which must be 64-byte aligned.
  std::size_t workspace_bytes() const noexcept;

  /// The starts of signals are `stride` elements apart; spectra are contiguous. Results are multiplied by
  /// `scale`. The arrays may be the same memory if they have the same layout.
  void forward(const void* signals, ElementType type, std::int64_t stride, Complex* spectra, Real scale,
               std::byte* workspace) const;
  void inverse(const Complex* spectra, Complex* signals, std::int64_t stride, Real scale,
               std::byte* workspace) const;
  void inverse(const Complex* spectra, Real* signals, std::int64_t stride, Real scale,
               std::byte* workspace) const;

 private:
  /// How the values of a row are transformed.
  enum class Rows {
    complex,  ///< without conversion
    halved,   ///< real, even length: pairs of neighbours, half as many values
    paired,   ///< real, odd length: two rows of a signal as real and imaginary parts
  };

  Buffers buffers(std::byte* workspace) const;
  Buffers over_rows(const Buffers& data, std::int64_t count) const;
  Buffers over_slower(const Buffers& data) const;
  Buffers half_spectra(Buffers data) const;
  Buffers from_half_spectra(Buffers data) const;

  std::int64_t row_, rows_;  ///< extents of a signal
  std::int64_t signals_;
  Rows kind_;
  std::int64_t kept_;         ///< values of a row's spectrum
  std::int64_t transformed_;  ///< complex values in the transform of a row
  std::int64_t pairs_;        ///< complex rows of a signal
  const cpu::SmallFftKernels<Real>* kernels_;
  cpu::ShortLines<Real> short_ = nullptr, short_back_ = nullptr;  ///< for signals that stay in registers
  cpu::LineFft<Real> line_;
  std::optional<cpu::SmallFft<Real>> slower_;  ///< the other dimensions
  CountedVector<Real> roots_re_, roots_im_;    ///< for unpacking
  std::int64_t reals_;                         ///< reals in each buffer before the scratch memory of the
                                               ///< lines
  std::size_t buffer_reals_;
};

extern template class SignalGroup<float>;
extern template class SignalGroup<double>;

}  // namespace sfft::detail
