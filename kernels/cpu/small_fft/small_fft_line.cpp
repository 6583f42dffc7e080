// SPDX-License-Identifier: Apache-2.0
// Plans the passes, fills in the roots that each kernel needs, and runs the passes between two
// pairs of buffers.
#include "kernels/cpu/small_fft/small_fft_line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/base/math/index.hpp"

namespace sfft::detail::cpu {

namespace {

/// The cheapest M >= `min` of the form 2^a times a small odd number.
template <class Real>
std::int64_t convolution_length(std::int64_t min, std::int64_t inner, const SmallFftKernels<Real>& kernels) {
  double best_cost = std::numeric_limits<double>::infinity();
  std::int64_t best = 0;
  for (const std::int64_t odd : {1, 3, 5, 7, 9, 15, 21, 25, 27, 35, 45}) {
    std::int64_t length = odd;
    while (length < min) length *= 2;
    const RadixPlan plan = choose_radices(length, inner, kernels);
    if (plan.cost < best_cost) {
      best_cost = plan.cost;
      best = length;
    }
  }
  return best;
}

/// The number of columns whose four work buffers fit a core's L2 cache; at least four vectors.
std::int64_t block_columns(std::int64_t n, std::int64_t inner, std::int64_t vector, std::size_t real_bytes) {
  constexpr std::int64_t kCacheBytes = 512 << 10;
  const std::int64_t fitting = kCacheBytes / (16 * static_cast<std::int64_t>(real_bytes)) / n;
  return std::min(inner, std::max(4 * vector, fitting / vector * vector));
}

}  // namespace

template <class Real>
LineFft<Real>::Bluestein::Bluestein(std::int64_t n, std::int64_t inner, Isa isa)
    : n_(n),
      inner_(inner),
      length_(convolution_length(2 * n - 1, inner, small_fft_kernels<Real>(isa))),
      block_(block_columns(n, inner, small_fft_kernels<Real>(isa).level_reals[0], sizeof(Real))),
      kernels_(small_fft_kernels<Real>(isa)),
      convolution_(length_, block_, isa) {
  const auto size = static_cast<std::size_t>(length_);
  CountedVector<double> buffer(4 * size);
  const SplitBuffers<double> wrapped{&buffer[0], &buffer[size], &buffer[2 * size], &buffer[3 * size]};
  for (std::int64_t j = 0; j < n; ++j) {
    const std::complex<double> root = unit_root(multiply_mod(j, j, 2 * n), 2 * n);
    chirp_re_.push_back(static_cast<Real>(root.real()));
    chirp_im_.push_back(static_cast<Real>(-root.imag()));
    for (const std::int64_t at : {j, (length_ - j) % length_}) {
      wrapped.re[at] = root.real();
      wrapped.im[at] = root.imag();
    }
  }
  const LineFft<double> transform(length_, 1, isa);
  const bool other = transform.execute(wrapped, {});
  const double scale = 1.0 / static_cast<double>(length_);
  for (std::int64_t k = 0; k < length_; ++k) {
    kernel_re_.push_back(static_cast<Real>((other ? wrapped.other_re : wrapped.re)[k] * scale));
    kernel_im_.push_back(static_cast<Real>((other ? wrapped.other_im : wrapped.im)[k] * scale));
  }
}

template <class Real>
double LineFft<Real>::Bluestein::flops() const noexcept {
  const auto points = static_cast<double>(inner_);
  return 2 * convolution_.flops() * points / static_cast<double>(block_) +
         6 * points * static_cast<double>(length_ + 2 * n_);
}

template <class Real>
void LineFft<Real>::Bluestein::execute(const SplitBuffers<Real>& data, const SplitBuffers<Real>& work) const {
  for (std::int64_t column = 0; column < inner_; column += block_) {
    // The last block overlaps columns that are already done. That is safe, because input and output are
    // separate.
    const std::int64_t q = std::min(column, inner_ - block_);
    kernels_.modulate(data.re + q, data.im + q, inner_, work.re, work.im, block_, n_, block_,
                      chirp_re_.data(), chirp_im_.data());
    std::fill(work.re + n_ * block_, work.re + length_ * block_, Real(0));
    std::fill(work.im + n_ * block_, work.im + length_ * block_, Real(0));
    SplitBuffers<Real> spectrum = work;
    if (convolution_.execute(work, {})) spectrum = {work.other_re, work.other_im, work.re, work.im};
    kernels_.modulate(spectrum.re, spectrum.im, block_, spectrum.re, spectrum.im, block_, length_, block_,
                      kernel_re_.data(), kernel_im_.data());
    // An inverse FFT is a forward one with real and imaginary parts exchanged.
    const SplitBuffers<Real> swapped{spectrum.im, spectrum.re, spectrum.other_im, spectrum.other_re};
    const bool other = convolution_.execute(swapped, {});
    kernels_.modulate(other ? spectrum.other_re : spectrum.re, other ? spectrum.other_im : spectrum.im,
                      block_, data.other_re + q, data.other_im + q, inner_, n_, block_, chirp_re_.data(),
                      chirp_im_.data());
  }
}

namespace {

/// exp(-2 pi i p j/n).
template <class Real>
std::complex<Real> turn_root(std::int64_t p, std::int64_t j, std::int64_t n) {
  const std::complex<double> root = phase(p, j, n);
  return {static_cast<Real>(root.real()), static_cast<Real>(-root.imag())};
}

template <class Real>
void append_wide_roots(std::int64_t m, std::int64_t radix, CountedVector<Real>& roots) {
  for (std::int64_t p = 0; p < m; ++p) {
    for (std::int64_t j = 1; j < radix; ++j) {
      const std::complex<Real> root = turn_root<Real>(p, j, m * radix);
      roots.push_back(root.real());
      roots.push_back(root.imag());
    }
  }
}

template <class Real>
void append_odd_roots(std::int64_t m, std::int64_t radix, CountedVector<Real>& roots) {
  for (std::int64_t k = 0; k <= radix / 2; ++k)
    roots.push_back(static_cast<Real>(unit_root(k, radix).real()));
  for (std::int64_t k = 0; k <= radix / 2; ++k)
    roots.push_back(static_cast<Real>(unit_root(k, radix).imag()));
  append_wide_roots(m, radix, roots);
}

template <class Real>
void append_narrow_roots(const PassChoice& pass, std::int64_t group, std::int64_t lanes,
                         CountedVector<Real>& roots) {
  for (std::int64_t p = 0; p < pass.m; p += group) {
    const std::int64_t first = std::min(p * pass.s, pass.m * pass.s - lanes);
    for (std::int64_t j = 1; j < pass.radix; ++j) {
      const std::size_t at = roots.size();
      roots.resize(at + static_cast<std::size_t>(2 * lanes));
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        const std::complex<Real> root = turn_root<Real>((first + lane) / pass.s, j, pass.m * pass.radix);
        roots[at + static_cast<std::size_t>(lane)] = root.real();
        roots[at + static_cast<std::size_t>(lanes + lane)] = root.imag();
      }
    }
  }
}

/// Prefetch distance of a pass that reads `radix` rows at a time from an array of `values` complex values:
/// hardware prefetchers do not follow rows that are far apart.
template <class Real>
std::int64_t rows_ahead(std::int64_t values, std::int64_t radix) {
  constexpr std::int64_t kCacheBytes = 1 << 20, kRows = 16;
  if (values <= kCacheBytes / (2 * static_cast<std::int64_t>(sizeof(Real)))) return 0;
  return std::max<std::int64_t>(1, kRows / radix);
}

}  // namespace

template <class Real>
LineFft<Real>::LineFft(std::int64_t n, std::int64_t inner, Isa isa)
    : n_(n), inner_(inner), kernels_(&small_fft_kernels<Real>(isa)) {
  const SmallFftKernels<Real>& kernels = *kernels_;
  const RadixPlan plan = choose_radices(n, inner, kernels);
  if (!plan.possible) {
    bluestein_ = std::make_unique<const Bluestein>(n, inner, isa);
    flops_ = bluestein_->flops();
    return;
  }
  for (const PassChoice& pass : plan.passes) add_step(pass, kernels);
}

template <class Real>
LineFft<Real>::~LineFft() = default;
template <class Real>
LineFft<Real>::LineFft(LineFft&&) noexcept = default;
template <class Real>
LineFft<Real>& LineFft<Real>::operator=(LineFft&&) noexcept = default;

template <class Real>
void LineFft<Real>::add_step(const PassChoice& pass, const SmallFftKernels<Real>& kernels) {
  Step step{nullptr, pass.m, pass.s, pass.radix, roots_.size(), pass.kind};
  switch (pass.kind) {
    case PassKind::wide:
      step.run = kernels.wide[pass.level][pass.radix];
      append_wide_roots(pass.m, pass.radix, roots_);
      break;
    case PassKind::last:
      step.run = kernels.last[pass.level][pass.radix];
      break;
    case PassKind::odd:
      step.run = kernels.odd[pass.level];
      append_odd_roots(pass.m, pass.radix, roots_);
      break;
    case PassKind::narrow:
      step.run = kernels.narrow[pass.s][pass.radix];
      append_narrow_roots(pass, kernels.narrow_group[pass.s], kernels.level_reals[0], roots_);
      break;
  }
  steps_.push_back(step);
  const auto radix = static_cast<double>(pass.radix);
  const double butterfly = pass.kind == PassKind::odd ? 4 * radix * radix : 5 * radix * std::log2(radix);
  flops_ += static_cast<double>(pass.m * pass.s) * (butterfly + 6 * (pass.m > 1 ? radix - 1 : 0));
}

template <class Real>
bool LineFft<Real>::toggles() const noexcept {
  return bluestein_ != nullptr || steps_.size() % 2 == 1;
}

template <class Real>
std::int64_t LineFft<Real>::work_reals() const noexcept {
  return bluestein_ ? bluestein_->work_reals() : 0;
}

template <class Real>
double LineFft<Real>::flops() const noexcept {
  return flops_;
}

template <class Real>
bool LineFft<Real>::execute(const SplitBuffers<Real>& data, const SplitBuffers<Real>& work) const {
  if (bluestein_) {
    bluestein_->execute(data, work);
    return true;
  }
  SplitBuffers<Real> now = data;
  for (const Step& step : steps_) {
    run(step, roots_.data() + step.first_root, now);
    now = {now.other_re, now.other_im, now.re, now.im};
  }
  return toggles();
}

template <class Real>
bool LineFft<Real>::can(const ComplexEnds<Real>& ends) const noexcept {
  if (steps_.empty()) return false;
  const Step &first = steps_.front(), &last = steps_.back();
  const std::int64_t vector = kernels_->level_reals[0];
  const bool both = ends.from != nullptr && ends.to != nullptr && steps_.size() == 1;
  // When working in place, an overlapping vector would read results.
  if (both && ends.from == ends.to && inner_ % vector != 0) return false;
  if (ends.from != nullptr) {
    const bool narrow = first.kind == PassKind::narrow && inner_ == 1 && ends.from_pitch == 1 &&
                        kernels_->narrow_from_complex[first.radix] != nullptr;
    const bool wide = (first.kind == PassKind::wide || both) && inner_ >= vector;
    if (first.radix > kMaxRadix || !(narrow || wide)) return false;
  }
  if (ends.to == nullptr) return true;
  const std::int64_t run = whole(ends) ? n_ / last.radix * inner_ : inner_;
  return last.radix <= kMaxRadix && (!both || inner_ >= vector) && run >= vector;
}

template <class Real>
SplitBuffers<Real> LineFft<Real>::execute(const ComplexEnds<Real>& ends, SplitBuffers<Real> data) const {
  const std::size_t split = steps_.size() - (ends.to != nullptr ? 1 : 0);
  for (std::size_t i = 0; i < split; ++i) {
    const Step& step = steps_[i];
    const Real* roots = roots_.data() + step.first_root;
    if (i > 0 || ends.from == nullptr) {
      run(step, roots, data);
    } else if (inner_ == 1) {
      kernels_->narrow_from_complex[step.radix](ends.from, nullptr, data.other_re, data.other_im, step.m,
                                                step.s, step.radix, roots);
    } else {
      kernels_->from_complex[step.radix]({ends.from, nullptr, ends.from_pitch, step.m * ends.from_pitch,
                                          data.other_re, data.other_im, data.other_re, step.radix * inner_,
                                          inner_, step.m, inner_, roots, 1,
                                          rows_ahead<Real>(n_ * ends.from_pitch, step.radix)});
    }
    data = {data.other_re, data.other_im, data.re, data.im};
  }
  if (ends.to == nullptr) return data;
  // The last pass leaves row p + m j as output j of row p. Inverse transforms store row n - i in place of i.
  const std::int64_t radix = steps_.back().radix, m = n_ / radix, pitch = ends.to_pitch;
  const std::int64_t row = ends.inverse ? -pitch : pitch;
  Real* const to = ends.to + (ends.inverse ? 2 * n_ * pitch : 0);
  if (split == 0 && ends.from != nullptr) {
    kernels_->all_complex[radix]({ends.from, nullptr, ends.from_pitch, ends.from_pitch, to, nullptr, ends.to,
                                  row, row, 1, inner_, nullptr, ends.scale, 0});
  } else {
    const std::int64_t joined = whole(ends) ? m : 1;  // rows that one run spans
    kernels_->to_complex[radix]({data.re, data.im, inner_, m * inner_, to, nullptr, ends.to, row, m * row,
                                 m / joined, joined * inner_, nullptr, ends.scale,
                                 rows_ahead<Real>(n_ * pitch, radix)});
  }
  return data;
}

template class LineFft<float>;
template class LineFft<double>;

}  // namespace sfft::detail::cpu
