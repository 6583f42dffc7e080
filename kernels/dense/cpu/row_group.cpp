// SPDX-License-Identifier: Apache-2.0
// Rows are transposed as they are read. Their spectra stay transposed, because callers use them differently.
#include "kernels/dense/cpu/row_group.hpp"

#include <algorithm>

#include "kernels/cpu/small_fft/small_fft_radix.hpp"
#include "kernels/cpu/stages/layout.hpp"
#include "kernels/dense/cpu/convert.hpp"

namespace sfft::detail {

namespace {

/// Nanoseconds per byte to transpose a complex value there and back, on the scale of choose_radices(). Real
/// rows have half as many complex values.
constexpr double kTransposition = 0.05;

std::int64_t lanes_of(std::int64_t rows, bool real) {
  return real ? (rows + 1) / 2 : rows;
}

}  // namespace

template <class Real>
RowGroup<Real>::RowGroup(std::int64_t n, std::int64_t rows, bool real)
    : n_(n),
      rows_(rows),
      real_(real),
      lanes_(lanes_of(rows, real)),
      kernels_(&cpu::small_fft_kernels<Real>(cpu::best_isa())),
      line_(n, lanes_, cpu::best_isa()) {}

template <class Real>
bool RowGroup<Real>::worthwhile(std::int64_t n, std::int64_t rows, bool real) {
  const cpu::SmallFftKernels<Real>& kernels = cpu::small_fft_kernels<Real>(cpu::best_isa());
  const cpu::RadixPlan across = cpu::choose_radices(n, lanes_of(rows, real), kernels);
  if (!across.possible) return false;
  // Separately, a row of even length is transformed as pairs, half as many values, but the calls per row also
  // cost time.
  constexpr double kRow = 8, kUnpackReal = 0.1;
  const bool paired = real && n % 2 == 0;
  double row = cpu::choose_radices(paired ? n / 2 : n, 1, kernels).cost + kRow;
  if (paired) row += kUnpackReal * static_cast<double>(n);
  const double turned = kTransposition * sizeof(std::complex<Real>) / (real ? 2 : 1);
  return across.cost + turned * static_cast<double>(n * rows) < row * static_cast<double>(rows);
}

template <class Real>
std::size_t RowGroup<Real>::buffer_reals() const noexcept {
  return static_cast<std::size_t>(std::max(n_ * lanes_, spectrum_points() * rows_));
}

template <class Real>
cpu::SplitBuffers<Real> RowGroup<Real>::run(cpu::SplitBuffers<Real> data) const {
  if (!line_.execute(data, {})) return data;
  return {data.other_re, data.other_im, data.re, data.im};
}

template <class Real>
cpu::SplitBuffers<Real> RowGroup<Real>::spectra(const void* signal, ElementType type, bool inverse,
                                                cpu::SplitBuffers<Real> data) const {
  if (inverse) data = exchanged(data);
  // Many narrow rows have special transposition kernels.
  const bool narrow = n_ <= cpu::kMaxNarrow && rows_ >= kernels_->level_reals[0];
  if (is_complex(type) && !narrow) {
    cpu::layout_kernels<Real>().load_transposed[part_of(type)](signal, n_, rows_, n_, rows_, data.re,
                                                               data.im);
  } else {
    split_elements(signal, type, rows_ * n_, data.re, data.im);
    data = transposed(*kernels_, rows_, n_, data);
  }
  return run(inverse ? exchanged(data) : data);
}

template <class Real>
cpu::SplitBuffers<Real> RowGroup<Real>::half_spectra(const void* signal, ElementType type,
                                                     cpu::SplitBuffers<Real> data) const {
  const auto read = [&](std::int64_t first_row, Real* copy, Real* to) {
    const auto* from = static_cast<const std::byte*>(signal) +
                       static_cast<std::size_t>(first_row * n_) * element_bytes(type);
    if (type == element_type_of<Real>::value) {
      kernels_->transpose(reinterpret_cast<const Real*>(from), lanes_, n_, to);
    } else {
      copy_as_real(from, type, lanes_ * n_, copy);
      kernels_->transpose(copy, lanes_, n_, to);
    }
  };
  read(0, data.other_re, data.re);
  read(rows_ - lanes_, data.other_im, data.im);
  data = run(data);
  cpu::layout_kernels<Real>().separate(data.re, data.im, n_, lanes_, rows_, rows_ - lanes_, data.other_re,
                                       data.other_im);
  return {data.other_re, data.other_im, data.re, data.im};
}

template <class Real>
void RowGroup<Real>::signals(cpu::SplitBuffers<Real> data, Real scale, Real* to) const {
  cpu::layout_kernels<Real>().unite(data.re, data.im, n_, lanes_, rows_, rows_ - lanes_, scale, data.other_re,
                                    data.other_im);
  data = exchanged(run(exchanged<Real>({data.other_re, data.other_im, data.re, data.im})));
  kernels_->transpose(data.re, n_, lanes_, to);
  kernels_->transpose(data.im, n_, lanes_, to + (rows_ - lanes_) * n_);
}

template <class Real>
cpu::SplitBuffers<Real> RowGroup<Real>::buffers(std::byte* workspace) const {
  const SplitWorkspace<Real> split(workspace, buffer_reals());
  return {split.re, split.im, split.other_re, split.other_im};
}

template <class Real>
void RowGroup<Real>::forward(const void* signal, ElementType type, std::complex<Real>* spectra,
                             std::byte* workspace) const {
  prefetch_for_writing(spectra, rows_ * spectrum_points());
  const cpu::SplitBuffers<Real> own = buffers(workspace);
  const auto data = real_ ? half_spectra(signal, type, own) : this->spectra(signal, type, false, own);
  cpu::layout_kernels<Real>().store_transposed(data.re, data.im, rows_, spectrum_points(), rows_, 1,
                                               spectrum_points(), reinterpret_cast<Real*>(spectra));
}

template <class Real>
void RowGroup<Real>::inverse(const std::complex<Real>* spectra, std::complex<Real>* signal, Real scale,
                             std::byte* workspace) const {
  prefetch_for_writing(signal, rows_ * n_);
  const auto data =
      this->spectra(spectra, element_type_of<std::complex<Real>>::value, true, buffers(workspace));
  cpu::layout_kernels<Real>().store_transposed(data.im, data.re, rows_, n_, rows_, scale, n_,
                                               reinterpret_cast<Real*>(signal));
}

template <class Real>
void RowGroup<Real>::inverse(const std::complex<Real>* spectra, Real* signal, Real scale,
                             std::byte* workspace) const {
  const cpu::SplitBuffers<Real> data = buffers(workspace);
  cpu::layout_kernels<Real>().load_transposed[kOwnPart<Real>](spectra, spectrum_points(), rows_,
                                                              spectrum_points(), rows_, data.re, data.im);
  signals(data, scale, signal);
}

template class RowGroup<float>;
template class RowGroup<double>;

}  // namespace sfft::detail
