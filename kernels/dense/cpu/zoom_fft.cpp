// SPDX-License-Identifier: Apache-2.0
// Parts of the signal are decimated while they are in cache.
#include "kernels/dense/cpu/zoom_fft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/base/math/filter.hpp"
#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/base/math/smooth.hpp"
#include "kernels/cpu/stages/matrix_product.hpp"
#include "kernels/dense/cpu/convert.hpp"
#include "kernels/dense/cpu/shared_parts.hpp"
#include "kernels/runtime/aligned_buffer.hpp"
#include "kernels/runtime/host_resources.hpp"
#include "sfft/error.hpp"

namespace sfft::detail {

/// An angle in turns with 128 bits after the point. Products with integers wrap at whole turns, so they are
/// exact but for the rounding of the factor.
class Turns {
 public:
  /// frequency/period, modulo 1, to 2^-128.
  Turns(double frequency, double period) noexcept {
    double rest = std::fmod(std::abs(frequency), period);
    for (int bit = 0; bit < 128; ++bit) {  // long division; each step is exact
      rest *= 2;
      bits_ <<= 1;
      if (rest < period) continue;
      rest -= period;
      bits_ |= 1;
    }
    if (frequency < 0) bits_ = -bits_;
  }
  Turns operator*(__int128 factor) const noexcept {
    return Turns(bits_ * static_cast<unsigned __int128>(factor));
  }
  Turns operator+(const Turns& other) const noexcept { return Turns(bits_ + other.bits_); }
  Turns operator-(const Turns& other) const noexcept { return Turns(bits_ - other.bits_); }
  /// exp(2πi turns)
  std::complex<double> root() const noexcept {
    return root_of_turns(std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits_ >> 64)), -64));
  }

 private:
  explicit Turns(unsigned __int128 bits) noexcept : bits_(bits) {}

  unsigned __int128 bits_ = 0;
};

namespace {

constexpr double kPi = std::numbers::pi;

__int128 squared(std::int64_t i) {
  return static_cast<__int128>(i) * i;
}

std::int64_t padded(std::int64_t n, std::int64_t grain) {
  return (n + grain - 1) / grain * grain;
}

/// The shortest length with small prime factors, a multiple of 8 unless it is short.
std::int64_t fft_length(std::int64_t min) {
  std::int64_t length = min > 64 ? padded(min, 8) : min;
  while (!is_smooth(length, 7)) length += min > 64 ? 8 : 1;
  return length;
}

/// Frequencies between the first and the last one.
double bandwidth(const FrequencyRange& range) {
  return std::abs(range.step) * static_cast<double>(range.count - 1);
}

double fft_us(std::int64_t points, bool single) {
  constexpr double kSingle = 0.9e-4, kDouble = 1.6e-4, kStart = 0.1;  // per operation, and per FFT
  constexpr double kCacheBytes = 4e6, kBeyond = 1.8;
  const auto n = static_cast<double>(points);
  const double bytes = n * (single ? 8 : 16);
  return kStart +
         (single ? kSingle : kDouble) * (bytes > kCacheBytes ? kBeyond : 1) * 5 * n * std::log2(n + 1);
}

/// The Kaiser window whose sidelobes begin where frequencies alias onto the band, at 1/D − W/2n.
struct Window {
  double beta = 0;
  std::int64_t length = 1;

  Window(std::int64_t n, double band, const ZoomPlan& plan) : length(plan.block * plan.taps) {
    const double oversampling = oversampling_of(n, band, plan.block);
    beta = kPi * static_cast<double>(plan.taps) * (1 - 0.5 / oversampling);
  }
  /// The rate of the decimated signal over the bandwidth.
  static double oversampling_of(std::int64_t n, double band, std::int64_t block) {
    return static_cast<double>(n) / (static_cast<double>(block) * std::max(band, 1e-3));
  }
  /// What aliases, relative to its magnitude (Kaiser and Schafer 1980).
  static double aliasing(std::int64_t n, double band, std::int64_t block, std::int64_t taps) {
    const double oversampling = oversampling_of(n, band, block);
    if (oversampling <= 1) return 1;
    const double full = kPi * static_cast<double>(taps), at_edge = full * std::sqrt(1 - 1 / oversampling),
                 beta = full * (1 - 0.5 / oversampling);
    constexpr double kMaxDroop = 1.6;  // ln(5): the response divides the errors at the band's edges
    return beta - at_edge > kMaxDroop ? 1 : 2 * beta * std::exp(-at_edge);
  }
  std::vector<double> values() const {
    std::vector<double> taps;
    const auto full = static_cast<double>(length);
    for (std::int64_t i = 0; i < length; ++i) {
      const double at = (static_cast<double>(2 * i + 1) - full) / full;
      taps.push_back(bessel_i0(beta * std::sqrt(std::max(0.0, 1 - at * at))) / bessel_i0(beta));
    }
    return taps;
  }
};

/// The sum of an even window's taps times exp(2πi f (i − middle)/n) for |f| <= limit: a series of Chebyshev
/// polynomials in f², because one sum per frequency would take longer than a transform.
class Response {
 public:
  Response(const std::vector<double>& window, std::int64_t n, double limit) : limit_(std::max(limit, 1e-9)) {
    const auto taps = static_cast<std::int64_t>(window.size());
    std::array<double, kTerms> samples{};
    for (int k = 0; k < kTerms; ++k) {
      const double v = std::cos(kPi * (k + 0.5) / kTerms);
      const double f = limit_ * std::sqrt((v + 1) / 2);
      for (std::int64_t i = 0; i < taps; ++i) {
        const double offset = static_cast<double>(i) - 0.5 * static_cast<double>(taps - 1);
        samples[static_cast<std::size_t>(k)] +=
            window[static_cast<std::size_t>(i)] * std::cos(2 * kPi * f * offset / static_cast<double>(n));
      }
    }
    for (int j = 0; j < kTerms; ++j) {
      double sum = 0;
      for (int k = 0; k < kTerms; ++k)
        sum += samples[static_cast<std::size_t>(k)] * std::cos(kPi * j * (k + 0.5) / kTerms);
      series_[static_cast<std::size_t>(j)] = (j == 0 ? 1.0 : 2.0) * sum / kTerms;
    }
  }
  double operator()(double f) const {
    const double share = f / limit_, x = 2 * share * share - 1;
    double next = 0, after = 0;  // Clenshaw's recurrence
    for (int j = kTerms - 1; j > 0; --j) {
      const double value = 2 * x * next - after + series_[static_cast<std::size_t>(j)];
      after = next;
      next = value;
    }
    return x * next - after + series_[0];
  }

 private:
  static constexpr int kTerms = 40;  // the phases of the outermost taps are at most 25
  double limit_;
  std::array<double, kTerms> series_{};
};

/// Predicts a plan that has its block and its taps.
template <class Real>
void predict(std::int64_t n, bool real, const FrequencyRange& range, ZoomPlan& plan) {
  constexpr bool kSingle = sizeof(Real) == 4;
  // us per real product, and per value with or without decimation
  constexpr double kProduct = kSingle ? 0.3e-4 : 0.6e-4, kValue = 12e-3, kPlain = 8e-3;
  const std::int64_t sequence = (n + plan.block - 1) / plan.block + plan.taps - 1;
  plan.chirp = n % plan.block != 0 || range.step != std::floor(range.step) || !is_smooth(n / plan.block);
  plan.fft = plan.chirp ? fft_length(sequence + range.count - 1) : n / plan.block;
  plan.us = (plan.chirp ? 2 : 1) * fft_us(plan.fft, kSingle) +
            (plan.block > 1 ? kValue : kPlain) * static_cast<double>(sequence + range.count);
  if (plan.block > 1) {
    const double products = 2 * static_cast<double>(plan.taps) * (real ? 1.0 : 2.0) * static_cast<double>(n);
    plan.us += kProduct * products;
  }
}

}  // namespace

template <class Real>
double dense_us(std::int64_t n, bool real) {
  return fft_us(n, sizeof(Real) == 4) * (is_smooth(n) ? 1 : 6) * (real ? 0.5 : 1);
}

template <class Real>
ZoomPlan plan_zoom(std::int64_t n, bool real, const FrequencyRange& range) {
  constexpr bool kSingle = sizeof(Real) == 4;
  constexpr double kAliasing = kSingle ? 1e-7 : 5e-15;
  constexpr std::int64_t kMaxReals = kSingle ? 128 : 64;  // of a block, so that filters stay in cache
  constexpr std::int64_t kMinTaps = kSingle ? 6 : 12, kMaxTaps = 16;
  const std::int64_t max = kMaxReals / (real ? 1 : 2);
  ZoomPlan best;
  predict<Real>(n, real, range, best);
  for (std::int64_t block = 2; block <= std::min(max, n / 2); ++block) {
    const bool few = (block & (block - 1)) == 0 || n % block == 0;
    if (!few) continue;
    for (std::int64_t taps = kMinTaps; taps <= kMaxTaps; ++taps) {
      if (Window::aliasing(n, bandwidth(range), block, taps) > kAliasing) continue;
      ZoomPlan plan{.block = block, .taps = taps};
      predict<Real>(n, real, range, plan);
      if (plan.us < best.us) best = plan;
      break;
    }
  }
  return best;
}

template <class Real>
ZoomFft<Real>::ZoomFft(std::int64_t n, bool real, const FrequencyRange& range, double scale)
    : n_(n), real_(real), plan_(plan_zoom<Real>(n, real, range)), count_(range.count) {
  constexpr std::int64_t kPartReals = 1 << 14;
  lead_ = (plan_.taps - 1) * plan_.block;
  sequence_ = (n + plan_.block - 1) / plan_.block + plan_.taps - 1;
  part_values_ = std::max<std::int64_t>(1, kPartReals / (plan_.block * parts_per_sample()));
  length_ = padded(plan_.taps * plan_.block * parts_per_sample(), cpu::kFilterGrain);
  // Otherwise the system might end the process after minutes of planning.
  const double bytes = static_cast<double>(sizeof(Complex)) *
                       (3 * static_cast<double>(plan_.fft) + static_cast<double>(sequence_ + count_));
  if (bytes > host_memory_bytes()) {
    throw Error(
        ErrorCode::out_of_memory,
        fmt::format("{} frequencies of {} points take at least {:.3g} bytes for tables and workspace, "
                    "and this machine has {:.3g}: give fewer frequencies",
                    count_, n, bytes, host_memory_bytes()));
  }
  fft_ = make_built_in_engine<Real>(Shape(plan_.fft), false);

  // f_j = start + j·step is never rounded: its phases are sums of exact products.
  const auto period = static_cast<double>(n);
  const double centre = range.start + 0.5 * range.step * static_cast<double>(range.count - 1);
  const Window window(n, bandwidth(range), plan_);
  const std::vector<double> values = window.values();
  if (plan_.block > 1) make_filters(values, Turns(centre, period));
  const Response response(values, n, 0.5 * bandwidth(range));

  const Turns start(range.start, period), step(range.step, period), half_step(range.step, 2 * period);
  for (std::int64_t m = 0; m < sequence_; ++m) {
    Turns turns = start * (lead_ - m * plan_.block);
    if (plan_.chirp) turns = turns - half_step * (squared(m) * plan_.block);
    roots_.emplace_back(turns.root());
  }
  const double middle = 0.5 * static_cast<double>(window.length - 1) / period;
  for (std::int64_t j = 0; j < count_; ++j) {
    const double offset = range.start - centre + static_cast<double>(j) * range.step;
    Turns turns = step * (static_cast<__int128>(j) * lead_);
    if (plan_.chirp) turns = turns - half_step * (squared(j) * plan_.block);
    const std::complex<double> delay = plan_.block > 1 ? root_of_turns(-offset * middle) : 1;
    const double gain = plan_.block > 1 ? response(offset) / static_cast<double>(plan_.block) : 1;
    corrections_.emplace_back(times(turns.root(), delay) * (scale / gain));
  }
  if (plan_.chirp)
    make_chirp(half_step * plan_.block);
  else
    bin_step_ = floor_mod(static_cast<std::int64_t>(range.step), plan_.fft);
}

template <class Real>
void ZoomFft<Real>::make_filters(const std::vector<double>& window, const Turns& centre) {
  filters_.resize(static_cast<std::size_t>(2 * length_));
  Real *const to_re = filters_.data(), *const to_im = to_re + length_;
  for (std::int64_t i = 0; i < plan_.taps * plan_.block; ++i) {
    const std::complex<double> tap = window[static_cast<std::size_t>(i)] * (centre * -i).root();
    const auto re = static_cast<Real>(tap.real()), im = static_cast<Real>(tap.imag());
    const std::int64_t at = i * parts_per_sample();
    to_re[at] = re;
    to_im[at] = im;
    if (real_) continue;
    to_re[at + 1] = -im;
    to_im[at + 1] = re;
  }
}

/// −j·m = ((j − m)² − j² − m²)/2 makes the sum over m a convolution with exp(2πi half_cycle l²).
template <class Real>
void ZoomFft<Real>::make_chirp(const Turns& half_cycle) {
  const auto length = static_cast<std::size_t>(plan_.fft);
  std::vector<std::complex<double>> chirp(length);
  for (std::int64_t l = 0; l < std::max(count_, sequence_); ++l) {
    const std::complex<double> root = (half_cycle * squared(l)).root() / static_cast<double>(length);
    if (l < count_) chirp[static_cast<std::size_t>(l)] = root;
    if (l > 0 && l < sequence_) chirp[length - static_cast<std::size_t>(l)] = root;
  }
  const auto exact = make_built_in_engine<double>(Shape(plan_.fft), false);
  const AlignedBuffer workspace(exact->workspace_bytes(1));
  exact->forward(chirp.data(), ElementType::c128, chirp.data(), {workspace.data(), nullptr});
  kernel_.assign(chirp.begin(), chirp.end());
}

template <class Real>
std::size_t ZoomFft<Real>::fft_bytes() const noexcept {
  return aligned_bytes(static_cast<std::size_t>(plan_.fft) * sizeof(Complex));
}
template <class Real>
std::size_t ZoomFft<Real>::sequence_bytes() const noexcept {
  return plan_.block == 1 ? 0 : aligned_bytes(static_cast<std::size_t>(sequence_) * sizeof(Complex));
}
template <class Real>
std::size_t ZoomFft<Real>::part_bytes() const noexcept {
  if (plan_.block == 1) return 0;
  return aligned_bytes(static_cast<std::size_t>(part_values_ * plan_.block * parts_per_sample() + length_) *
                       sizeof(Real));
}
template <class Real>
std::size_t ZoomFft<Real>::workspace_bytes(int threads) const noexcept {
  return fft_bytes() + sequence_bytes() +
         std::max(aligned_bytes(fft_->workspace_bytes(1)), static_cast<std::size_t>(threads) * part_bytes());
}
template <class Real>
int ZoomFft<Real>::threads_of(int max) const noexcept {
  return plan_.block == 1 ? 1 : static_cast<int>(std::min<std::int64_t>(threads_worth(n_, max), parts()));
}

template <class Real>
void ZoomFft<Real>::forward(const void* signal, ElementType type, Complex* values,
                            const EngineScratch& scratch) const {
  auto* const data = reinterpret_cast<Complex*>(scratch.workspace);
  auto* const sequence = reinterpret_cast<Complex*>(scratch.workspace + fft_bytes());
  std::byte* const rest = scratch.workspace + fft_bytes() + sequence_bytes();
  std::fill_n(data, plan_.fft, Complex(0));
  if (plan_.block == 1) {
    copy_as_complex(signal, type, n_, data);
    for (std::int64_t m = 0; m < n_; ++m) data[m] = times(data[m], roots_[static_cast<std::size_t>(m)]);
  } else {
    over_parts({rest, scratch.pool}, part_bytes(), parts(), [&](std::int64_t part, std::byte* own) {
      decimate(signal, type, part, sequence, reinterpret_cast<Real*>(own));
    });
    for (std::int64_t m = 0, place = 0; m < sequence_; ++m, ++place) {
      if (place == plan_.fft) place = 0;
      data[place] += sequence[m];
    }
  }
  const EngineScratch alone{rest, nullptr};
  constexpr ElementType kOwn = element_type_of<Complex>::value;
  fft_->forward(data, kOwn, data, alone);
  if (plan_.chirp) {
    for (std::int64_t i = 0; i < plan_.fft; ++i)
      data[i] = times(data[i], kernel_[static_cast<std::size_t>(i)]);
    fft_->inverse(data, data, 1, alone);
  }
  for (std::int64_t j = 0, bin = 0; j < count_; ++j, bin += bin_step_) {
    if (bin >= plan_.fft) bin -= plan_.fft;
    values[j] = times(data[bin], corrections_[static_cast<std::size_t>(j)]);
  }
}

template <class Real>
void ZoomFft<Real>::decimate(const void* signal, ElementType type, std::int64_t part, Complex* sequence,
                             Real* own) const {
  const std::int64_t first = part * part_values_, values = std::min(part_values_, sequence_ - first),
                     stride = plan_.block * parts_per_sample();
  // Samples that the filters read, some of which may be before or after the signal, where it is zero.
  const std::int64_t begin = first * plan_.block - lead_,
                     end = begin + ((values - 1) * stride + length_) / parts_per_sample();
  const std::int64_t from = std::max<std::int64_t>(0, begin), to = std::min(n_, end);
  const auto* const samples =
      static_cast<const std::byte*>(signal) + static_cast<std::size_t>(from) * element_bytes(type);
  const Real* x = reinterpret_cast<const Real*>(samples);
  const ElementType unconverted = real_ ? element_type_of<Real>::value : element_type_of<Complex>::value;
  if (type != unconverted || from != begin || to != end) {
    Real* const copy = own + (from - begin) * parts_per_sample();
    std::fill(own, copy, Real(0));
    if (real_)
      copy_as_real(samples, type, to - from, copy);
    else
      copy_as_complex(samples, type, to - from, reinterpret_cast<Complex*>(copy));
    std::fill(copy + (to - from) * parts_per_sample(), own + (end - begin) * parts_per_sample(), Real(0));
    x = own;
  }
  cpu::matrix_kernels<Real>().decimate(x, values, stride, filters_.data(), length_,
                                       reinterpret_cast<Real*>(sequence + first));
  for (std::int64_t m = first; m < first + values; ++m)
    sequence[m] = times(sequence[m], roots_[static_cast<std::size_t>(m)]);
}

template double dense_us<float>(std::int64_t, bool);
template double dense_us<double>(std::int64_t, bool);
template ZoomPlan plan_zoom<float>(std::int64_t, bool, const FrequencyRange&);
template ZoomPlan plan_zoom<double>(std::int64_t, bool, const FrequencyRange&);
template class ZoomFft<float>;
template class ZoomFft<double>;

}  // namespace sfft::detail
