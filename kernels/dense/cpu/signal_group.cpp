// SPDX-License-Identifier: Apache-2.0
// Splits signals into real and imaginary parts and transposes them. Every pass then works on whole vectors.
#include "kernels/dense/cpu/signal_group.hpp"

#include <algorithm>

#include "kernels/base/math/index.hpp"
#include "kernels/cpu/small_fft/small_fft_radix.hpp"
#include "kernels/cpu/stages/layout.hpp"
#include "kernels/dense/cpu/convert.hpp"
#include "kernels/dense/cpu/line_stage.hpp"
#include "kernels/dense/cpu/row_group.hpp"

namespace sfft::detail {

namespace {

/// The dimensions other than the last one. They are merged into one if all have length one.
std::vector<std::int64_t> slower_extents(const Shape& shape) {
  const auto extents = shape.extents();
  return {extents.begin(), extents.end() - 1};
}

/// Calls action(offset of a signal, its offset without gaps, count) for each signal, or just once if there
/// are no gaps.
template <class Action>
void over_signals(std::int64_t signals, std::int64_t points, std::int64_t stride, const Action& action) {
  if (stride == points) return action(0, 0, signals * points);
  for (std::int64_t l = 0; l < signals; ++l) action(l * stride, l * points, points);
}

}  // namespace

template <class Real>
SignalGroup<Real>::SignalGroup(const Shape& shape, bool real, std::int64_t signals)
    : row_(shape[shape.rank() - 1]),
      rows_(shape.points() / row_),
      signals_(signals),
      kind_(!real           ? Rows::complex
            : row_ % 2 == 0 ? Rows::halved
                            : Rows::paired),
      kept_(real ? row_ / 2 + 1 : row_),
      transformed_(kind_ == Rows::halved ? row_ / 2 : row_),
      pairs_(kind_ == Rows::paired ? (rows_ + 1) / 2 : rows_),
      kernels_(&cpu::small_fft_kernels<Real>(cpu::best_isa())),
      line_(transformed_, signals, cpu::best_isa()),
      reals_(signals * std::max(rows_ * kept_, pairs_ * transformed_)) {
  if (kind_ == Rows::complex && rows_ == 1) {
    short_ = cpu::short_line_kernels<Real>().of(row_, false);
    short_back_ = cpu::short_line_kernels<Real>().of(row_, true);
  }
  const std::vector<std::int64_t> slower = slower_extents(shape);
  if (rows_ > 1) slower_.emplace(slower, kept_ * signals);
  reals_ = (reals_ + 15) / 16 * 16;
  buffer_reals_ = static_cast<std::size_t>(reals_ + line_.work_reals());
  if (kind_ == Rows::paired)  // all rows are read into the first buffer
    buffer_reals_ = std::max(buffer_reals_, static_cast<std::size_t>(signals * row_ * rows_));
  if (slower_) buffer_reals_ = std::max(buffer_reals_, slower_->buffer_reals());
  if (kind_ != Rows::halved) return;
  for (std::int64_t k = 0; k < transformed_; ++k) {
    roots_re_.push_back(static_cast<Real>(unit_root(k, row_).real()));
    roots_im_.push_back(static_cast<Real>(-unit_root(k, row_).imag()));
  }
}

template <class Real>
std::int64_t SignalGroup<Real>::best_size(const Shape& shape, bool real, std::int64_t batch) {
  constexpr std::int64_t kCacheBytes = 32 << 10, kMaxVectors = 4;
  constexpr std::int64_t kMaxForHalf = 255, kMaxForQuarter = 64;
  const std::int64_t values = real ? (shape.points() + 1) / 2 : shape.points();
  const std::int64_t fitting = kCacheBytes / (4 * static_cast<std::int64_t>(sizeof(Real))) / values;
  const cpu::SmallFftKernels<Real>& kernels = cpu::small_fft_kernels<Real>(cpu::best_isa());
  const auto possible = [&](std::int64_t n) { return cpu::choose_radices(n, 1, kernels).possible; };
  if (const auto extents = shape.extents(); !std::all_of(extents.begin(), extents.end(), possible)) return 1;
  const std::int64_t vector = kernels.level_reals[0];
  const std::int64_t lanes =
      std::min(batch, std::clamp(fitting / vector, std::int64_t{1}, kMaxVectors) * vector);
  if (lanes <= fitting && lanes >= vector) return lanes;
  // Partly filled vectors pay off only for short signals.
  const std::int64_t part = std::max<std::int64_t>(1, values <= kMaxForQuarter ? vector / 4 : vector / 2);
  const std::int64_t room = std::min(fitting, vector);
  const std::int64_t few = batch <= room ? batch : room / part * part;
  return values <= kMaxForHalf && few >= std::max<std::int64_t>(2, part) ? few : 1;
}

template <class Real>
std::size_t SignalGroup<Real>::workspace_bytes() const noexcept {
  return (SplitWorkspace<Real>::total(buffer_reals_) * sizeof(Real) + 63) / 64 * 64;
}

template <class Real>
cpu::SplitBuffers<Real> SignalGroup<Real>::buffers(std::byte* workspace) const {
  const SplitWorkspace<Real> split(workspace, buffer_reals_);
  return {split.re, split.im, split.other_re, split.other_im};
}

template <class Real>
cpu::SplitBuffers<Real> SignalGroup<Real>::over_rows(const Buffers& data, std::int64_t count) const {
  const Buffers work{data.re + reals_, data.im + reals_, data.other_re + reals_, data.other_im + reals_};
  const std::int64_t reals = transformed_ * signals_;
  for (std::int64_t at = 0; at < count * reals; at += reals)
    line_.execute({data.re + at, data.im + at, data.other_re + at, data.other_im + at}, work);
  return line_.toggles() ? Buffers{data.other_re, data.other_im, data.re, data.im} : data;
}

template <class Real>
cpu::SplitBuffers<Real> SignalGroup<Real>::over_slower(const Buffers& data) const {
  if (!slower_ || !slower_->execute(data.re, data.im, data.other_re, data.other_im)) return data;
  return {data.other_re, data.other_im, data.re, data.im};
}

/// Computes half spectra from transformed rows, for a forward transform.
template <class Real>
cpu::SplitBuffers<Real> SignalGroup<Real>::half_spectra(Buffers data) const {
  const cpu::LayoutKernels<Real>& layout = cpu::layout_kernels<Real>();
  data = over_rows(data, pairs_);
  const std::int64_t reals = transformed_ * signals_, kept = kept_ * signals_;
  for (std::int64_t row = 0; row < pairs_; ++row) {
    const Real *const re = data.re + row * reals, *const im = data.im + row * reals;
    Real *const to_re = data.other_re + row * kept, *const to_im = data.other_im + row * kept;
    if (kind_ == Rows::halved) {
      layout.unpack_real_lanes(re, im, transformed_, signals_, roots_re_.data(), roots_im_.data(), to_re,
                               to_im);
    } else {
      layout.separate(re, im, row_, signals_, signals_, (rows_ - pairs_) * kept, to_re, to_im);
    }
  }
  return {data.other_re, data.other_im, data.re, data.im};
}

/// The inverse of half_spectra(), for an inverse transform.
template <class Real>
cpu::SplitBuffers<Real> SignalGroup<Real>::from_half_spectra(Buffers data) const {
  const cpu::LayoutKernels<Real>& layout = cpu::layout_kernels<Real>();
  const std::int64_t reals = transformed_ * signals_, kept = kept_ * signals_;
  for (std::int64_t row = 0; row < pairs_; ++row) {
    const Real *const re = data.re + row * kept, *const im = data.im + row * kept;
    Real *const to_re = data.other_re + row * reals, *const to_im = data.other_im + row * reals;
    if (kind_ == Rows::halved) {
      layout.pack_real_lanes(re, im, transformed_, signals_, roots_re_.data(), roots_im_.data(), to_re,
                             to_im);
    } else {
      layout.unite(re, im, row_, signals_, signals_, (rows_ - pairs_) * kept, 1, to_re, to_im);
    }
  }
  return exchanged(over_rows(exchanged<Real>({data.other_re, data.other_im, data.re, data.im}), pairs_));
}

template <class Real>
void SignalGroup<Real>::forward(const void* signals, ElementType type, std::int64_t stride, Complex* spectra,
                                Real scale, std::byte* workspace) const {
  if (short_ != nullptr && type == element_type_of<Complex>::value) {
    return short_(static_cast<const Real*>(signals), stride, reinterpret_cast<Real*>(spectra), row_, signals_,
                  scale);
  }
  const cpu::LayoutKernels<Real>& layout = cpu::layout_kernels<Real>();
  Buffers data = buffers(workspace);
  const auto* const from = static_cast<const std::byte*>(signals);
  const auto element = [&](std::int64_t at) {
    return from + static_cast<std::size_t>(at) * element_bytes(type);
  };
  const std::int64_t points = row_ * rows_;
  const bool pairs = kind_ == Rows::complex ? is_complex(type) : stride % 2 == 0;
  if (kind_ == Rows::paired) {
    over_signals(signals_, points, stride, [&](std::int64_t at, std::int64_t to, std::int64_t count) {
      copy_as_real(element(at), type, count, data.other_re + to);
    });
    kernels_->transpose(data.other_re, signals_, points, data.re);
    const std::int64_t lanes = row_ * signals_;
    std::copy_n(data.re + (rows_ - pairs_) * lanes, pairs_ * lanes, data.im);
  } else if (pairs) {
    layout.load_transposed[part_of(type)](signals, kind_ == Rows::complex ? stride : stride / 2, signals_,
                                          rows_ * transformed_, signals_, data.re, data.im);
  } else {
    over_signals(signals_, points, stride, [&](std::int64_t at, std::int64_t to, std::int64_t count) {
      if (kind_ == Rows::complex) return split_elements(element(at), type, count, data.re + to, data.im + to);
      layout.deinterleave[part_of(type)](element(at), count / 2, data.re + to / 2, data.im + to / 2);
    });
    data = transposed(*kernels_, signals_, rows_ * transformed_, data);
  }
  data = over_slower(kind_ == Rows::complex ? over_rows(data, rows_) : half_spectra(data));
  layout.store_transposed(data.re, data.im, signals_, rows_ * kept_, signals_, scale, rows_ * kept_,
                          reinterpret_cast<Real*>(spectra));
}

template <class Real>
void SignalGroup<Real>::inverse(const Complex* spectra, Complex* signals, std::int64_t stride, Real scale,
                                std::byte* workspace) const {
  if (short_back_ != nullptr) {
    return short_back_(reinterpret_cast<const Real*>(spectra), row_, reinterpret_cast<Real*>(signals), stride,
                       signals_, scale);
  }
  const cpu::LayoutKernels<Real>& layout = cpu::layout_kernels<Real>();
  const std::int64_t points = row_ * rows_;
  Buffers data = exchanged(buffers(workspace));
  layout.load_transposed[kOwnPart<Real>](spectra, points, signals_, points, signals_, data.im, data.re);
  data = exchanged(over_slower(over_rows(data, rows_)));
  layout.store_transposed(data.re, data.im, signals_, points, signals_, scale, stride,
                          reinterpret_cast<Real*>(signals));
}

template <class Real>
void SignalGroup<Real>::inverse(const Complex* spectra, Real* signals, std::int64_t stride, Real scale,
                                std::byte* workspace) const {
  const cpu::LayoutKernels<Real>& layout = cpu::layout_kernels<Real>();
  const std::int64_t points = row_ * rows_, kept = rows_ * kept_;
  Buffers data = exchanged(buffers(workspace));
  layout.load_transposed[kOwnPart<Real>](spectra, kept, signals_, kept, signals_, data.im, data.re);
  data = from_half_spectra(exchanged(over_slower(data)));
  if (kind_ == Rows::halved && stride % 2 == 0)
    return layout.store_transposed(data.re, data.im, signals_, points / 2, signals_, scale, stride / 2,
                                   signals);
  if (kind_ == Rows::halved) {
    data = transposed(*kernels_, points / 2, signals_, data);
    return over_signals(
        signals_, points, stride, [&](std::int64_t at, std::int64_t from, std::int64_t count) {
          layout.interleave(data.re + from / 2, data.im + from / 2, count / 2, scale, signals + at);
        });
  }
  const std::int64_t lanes = row_ * signals_;
  std::copy_n(data.re, pairs_ * lanes, data.other_re);
  std::copy_n(data.im, pairs_ * lanes, data.other_re + (rows_ - pairs_) * lanes);
  kernels_->transpose(data.other_re, points, signals_, data.other_im);
  over_signals(signals_, points, stride, [&](std::int64_t at, std::int64_t from, std::int64_t count) {
    std::transform(data.other_im + from, data.other_im + from + count, signals + at,
                   [scale](Real value) { return scale * value; });
  });
}

template class SignalGroup<float>;
template class SignalGroup<double>;

}  // namespace sfft::detail
