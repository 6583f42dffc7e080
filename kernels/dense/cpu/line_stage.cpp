// SPDX-License-Identifier: Apache-2.0
// Transforms real rows of even length as half as many complex pairs, and columns in blocks that stay in
// cache.
#include "kernels/dense/cpu/line_stage.hpp"

#include <algorithm>
#include <utility>

#include "kernels/base/math/index.hpp"
#include "kernels/cpu/small_fft/small_fft_line.hpp"
#include "kernels/runtime/run_scope.hpp"

namespace sfft::detail {

namespace {

template <class Real>
cpu::SmallFft<Real> row_fft(std::int64_t n) {
  return cpu::SmallFft<Real>({&n, 1}, 1);
}

}  // namespace

template <class Real>
void split_elements(const void* from, ElementType type, std::int64_t count, Real* re, Real* im) {
  const cpu::LayoutKernels<Real>& layout = cpu::layout_kernels<Real>();
  (is_complex(type) ? layout.deinterleave : layout.widen)[part_of(type)](from, count, re, im);
}

template <class Real>
void prefetch_for_writing(const std::complex<Real>* values, std::int64_t count) {
  constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(std::complex<Real>)), kMax = 1024;
  for (std::int64_t at = 0; at < std::min(count, kMax); at += kLine) __builtin_prefetch(values + at, 1);
}

template <class Real>
std::int64_t columns_in_cache(std::int64_t n, std::int64_t inner) {
  constexpr std::int64_t kCacheBytes = 32 << 10;
  constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(Real));
  const std::int64_t fitting = kCacheBytes / (4 * static_cast<std::int64_t>(sizeof(Real))) / n;
  return std::min(inner, std::clamp(fitting / kLine * kLine, 2 * kLine, 8 * kLine));
}

template <class Real>
SplitWorkspace<Real>::SplitWorkspace(std::byte* workspace, std::size_t reals) {
  re = reinterpret_cast<Real*>(workspace);
  im = re + padded(reals);
  other_re = im + padded(reals);
  other_im = other_re + padded(reals);
}

template <class Real>
void SplitWorkspace<Real>::transform(const cpu::SmallFft<Real>& fft, bool inverse) {
  const bool moved =
      inverse ? fft.execute(im, re, other_im, other_re) : fft.execute(re, im, other_re, other_im);
  if (!moved) return;
  std::swap(re, other_re);
  std::swap(im, other_im);
}

template <class Real>
RowStage<Real>::RowStage(std::int64_t n, bool real)
    : n_(n), real_(real), fft_(row_fft<Real>(real && n % 2 == 0 ? n / 2 : n)) {
  Real place = 0;
  reads_ = fft_.line().can({&place, 1, nullptr, 1, 1, false});
  writes_ = !real && fft_.line().can({nullptr, 1, &place, 1, 1, false});
  if (!real) {
    short_ = cpu::short_line_kernels<Real>().of(n, false);
    short_back_ = cpu::short_line_kernels<Real>().of(n, true);
  }
  if (!paired()) return;
  for (std::int64_t k = 0; k < n / 2; ++k) {
    roots_re_.push_back(static_cast<Real>(unit_root(k, n).real()));
    roots_im_.push_back(static_cast<Real>(-unit_root(k, n).imag()));
  }
}

template <class Real>
void RowStage<Real>::forward(const void* row, ElementType type, std::complex<Real>* spectrum,
                             std::byte* workspace) const {
  if (short_ != nullptr && type == element_type_of<std::complex<Real>>::value)
    return short_(static_cast<const Real*>(row), n_, reinterpret_cast<Real*>(spectrum), n_, 1, Real(1));
  const cpu::LayoutKernels<Real>& layout = cpu::layout_kernels<Real>();
  SplitWorkspace<Real> split(workspace, fft_.buffer_reals());
  auto* out = reinterpret_cast<Real*>(spectrum);
  prefetch_for_writing(spectrum, spectrum_points());
  const cpu::LineFft<Real>& line = fft_.line();
  const bool own =
      type == (paired() ? element_type_of<Real>::value : element_type_of<std::complex<Real>>::value);
  const cpu::ComplexEnds<Real> ends{
      own && reads_ ? static_cast<const Real*>(row) : nullptr, 1, writes_ ? out : nullptr, 1, 1, false};
  if (ends.from == nullptr && paired()) {
    layout.deinterleave[part_of(type)](row, n_ / 2, split.re, split.im);
  } else if (ends.from == nullptr) {
    split_elements(row, type, n_, split.re, split.im);
  }
  if (ends.from == nullptr && ends.to == nullptr) {
    split.transform(fft_, false);
  } else {
    const auto done = line.execute(ends, {split.re, split.im, split.other_re, split.other_im});
    split.re = done.re;
    split.im = done.im;
  }
  if (paired()) {
    layout.unpack_real(split.re, split.im, n_ / 2, roots_re_.data(), roots_im_.data(), out);
  } else if (ends.to == nullptr) {
    layout.interleave(split.re, split.im, spectrum_points(), 1, out);
  }
}

template <class Real>
void RowStage<Real>::inverse(const std::complex<Real>* spectrum, std::complex<Real>* row, Real scale,
                             std::byte* workspace) const {
  if (short_back_ != nullptr) {
    return short_back_(reinterpret_cast<const Real*>(spectrum), n_, reinterpret_cast<Real*>(row), n_, 1,
                       scale);
  }
  const cpu::LayoutKernels<Real>& layout = cpu::layout_kernels<Real>();
  SplitWorkspace<Real> split(workspace, fft_.buffer_reals());
  layout.deinterleave[sizeof(Real) == 4 ? 2 : 3](spectrum, n_, split.re, split.im);
  split.transform(fft_, true);
  layout.interleave(split.re, split.im, n_, scale, reinterpret_cast<Real*>(row));
}

template <class Real>
void RowStage<Real>::inverse(const std::complex<Real>* spectrum, Real* row, Real scale,
                             std::byte* workspace) const {
  const cpu::LayoutKernels<Real>& layout = cpu::layout_kernels<Real>();
  SplitWorkspace<Real> split(workspace, fft_.buffer_reals());
  if (paired()) {
    layout.deinterleave[sizeof(Real) == 4 ? 2 : 3](spectrum, n_ / 2, split.other_re, split.other_im);
    layout.pack_real(split.other_re, split.other_im, spectrum[n_ / 2].real(), n_ / 2, roots_re_.data(),
                     roots_im_.data(), split.re, split.im);
    split.transform(fft_, true);
    layout.interleave(split.re, split.im, n_ / 2, scale, row);
    return;
  }
  split.re[0] = spectrum[0].real();
  split.im[0] = 0;
  for (std::int64_t k = 1; k <= n_ / 2; ++k) {
    split.re[k] = split.re[n_ - k] = spectrum[k].real();
    split.im[k] = spectrum[k].imag();
    split.im[n_ - k] = -spectrum[k].imag();
  }
  split.transform(fft_, true);
  for (std::int64_t t = 0; t < n_; ++t) row[t] = scale * split.re[t];
}

template <class Real>
ColumnStage<Real>::ColumnStage(std::int64_t n, std::int64_t columns, std::int64_t pitch)
    : n_(n), columns_(columns), pitch_(pitch), block_(columns_in_cache<Real>(n, columns)) {
  // Few remaining columns would not fill a vector, so they join the previous block.
  const std::int64_t whole = columns / block_, rest = columns % block_;
  blocks_ = whole + (4 * rest >= block_ ? 1 : 0);
  const std::int64_t last = columns - (blocks_ - 1) * block_;
  full_ = std::make_unique<const cpu::SmallFft<Real>>(std::span(&n, 1), block_);
  if (last != block_) last_ = std::make_unique<const cpu::SmallFft<Real>>(std::span(&n, 1), last);
  buffer_reals_ = std::max(full_->buffer_reals(), last_ ? last_->buffer_reals() : 0);
}

template <class Real>
void ColumnStage<Real>::block(std::int64_t block, const std::complex<Real>* from, std::complex<Real>* to,
                              bool inverse, std::byte* workspace, const Finish& finish) const {
  const std::int64_t column = block * block_, columns = columns_of(block);
  SplitWorkspace<Real> own = split(workspace);
  const cpu::SmallFft<Real>& fft = columns == block_ ? *full_ : *last_;
  const cpu::ComplexEnds<Real> ends{reinterpret_cast<const Real*>(from + column),
                                    pitch_,
                                    reinterpret_cast<Real*>(to + column),
                                    pitch_,
                                    1,
                                    inverse};
  if (!finish && fft.line().can(ends)) {
    fft.line().execute(ends, {own.re, own.im, own.other_re, own.other_im});
    return;
  }
  load(block, from + column, own);
  transform(block, inverse, own);
  if (finish) finish(column, columns, own.re, own.im);
  store(block, own, to + column);
}

template <class Real>
void ColumnStage<Real>::transposed_block(std::int64_t block, const std::complex<Real>* from,
                                         std::complex<Real>* to, bool inverse, std::byte* workspace,
                                         const Finish& finish) const {
  const std::int64_t column = block * block_, columns = columns_of(block);
  SplitWorkspace<Real> own = split(workspace);
  load(block, from + column, own);
  transform(block, inverse, own);
  if (finish) finish(column, columns, own.re, own.im);
  store_transposed(block, own, to + column * n_);
}

template <class Real>
void ColumnStage<Real>::load(std::int64_t block, const std::complex<Real>* from,
                             const SplitWorkspace<Real>& split) const {
  cpu::layout_kernels<Real>().load_rows(reinterpret_cast<const Real*>(from), pitch_, n_, columns_of(block),
                                        split.re, split.im);
}

template <class Real>
void ColumnStage<Real>::transform(std::int64_t block, bool inverse, SplitWorkspace<Real>& split) const {
  split.transform(columns_of(block) == block_ ? *full_ : *last_, inverse);
}

template <class Real>
void ColumnStage<Real>::store(std::int64_t block, const SplitWorkspace<Real>& split,
                              std::complex<Real>* to) const {
  cpu::layout_kernels<Real>().store_rows(split.re, split.im, n_, columns_of(block), pitch_,
                                         reinterpret_cast<Real*>(to));
}

template <class Real>
void ColumnStage<Real>::store_transposed(std::int64_t block, const SplitWorkspace<Real>& split,
                                         std::complex<Real>* to) const {
  cpu::layout_kernels<Real>().store_transposed(split.re, split.im, columns_of(block), n_, columns_of(block),
                                               1, n_, reinterpret_cast<Real*>(to));
}

template <class Real>
void ColumnStage<Real>::transform(const std::complex<Real>* from, std::complex<Real>* to, bool inverse,
                                  std::byte* workspace) const {
  LoopPolls polls(blocks());
  for (std::int64_t b = 0; b < blocks(); ++b) {
    polls.poll();
    block(b, from, to, inverse, workspace);
  }
}

template void split_elements(const void*, ElementType, std::int64_t, float*, float*);
template void split_elements(const void*, ElementType, std::int64_t, double*, double*);
template void prefetch_for_writing(const std::complex<float>*, std::int64_t);
template void prefetch_for_writing(const std::complex<double>*, std::int64_t);
template std::int64_t columns_in_cache<float>(std::int64_t, std::int64_t);
template std::int64_t columns_in_cache<double>(std::int64_t, std::int64_t);
template class SplitWorkspace<float>;
template class SplitWorkspace<double>;
template class RowStage<float>;
template class RowStage<double>;
template class ColumnStage<float>;
template class ColumnStage<double>;

}  // namespace sfft::detail
