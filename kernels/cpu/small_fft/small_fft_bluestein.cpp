// SPDX-License-Identifier: Apache-2.0
// Picks the convolution length by the cost of its passes, then works on blocks of columns that fit
// the L2 cache.
#include "kernels/cpu/small_fft/small_fft_bluestein.hpp"

#include <algorithm>
#include <limits>

#include "kernels/base/index.hpp"

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

template struct LineFft<float>::Bluestein;
template struct LineFft<double>::Bluestein;

}  // namespace sfft::detail::cpu
