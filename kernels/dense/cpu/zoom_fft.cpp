// SPDX-License-Identifier: Apache-2.0
// Parts of the signal are decimated while they are in cache: each block of D samples is multiplied by q rows
// of taps, and the products of neighbouring blocks overlap and add.
#include "kernels/dense/cpu/zoom_fft.hpp"

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
  // us per real product, and per value with or without decimation.
  constexpr double kProduct = kSingle ? 0.3e-4 : 0.6e-4, kValue = 20e-3, kColumn = 0.8e-3, kPlain = 8e-3;
  const std::int64_t sequence = (n + plan.block - 1) / plan.block + plan.taps - 1;
  plan.chirp = n % plan.block != 0 || range.step != std::floor(range.step) || !is_smooth(n / plan.block);
  plan.fft = plan.chirp ? fft_length(sequence + range.count - 1) : n / plan.block;
  plan.us =
      (plan.chirp ? 2 : 1) * fft_us(plan.fft, kSingle) + kValue * static_cast<double>(sequence + range.count);
  if (plan.block > 1) {
    const auto width = static_cast<double>(padded(2 * plan.taps, cpu::kBlockGrain<Real>));
    plan.us += kProduct * width * (real ? 1.0 : 2.0) * static_cast<double>(n) +
               (kValue + kColumn * width) * static_cast<double>(sequence);
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
  constexpr std::int64_t kMaxReals = kSingle ? 256 : 128;  // of a block, so that its taps stay in cache
  const std::int64_t max = kMaxReals / (real ? 1 : 2);
  ZoomPlan best;
  predict<Real>(n, real, range, best);
  for (std::int64_t block = 2; block <= std::min(max, n / 2); ++block) {
    const bool few = (block & (block - 1)) == 0 || n % block == 0;
    if (!few) continue;
    for (const std::int64_t taps : {8, 12, 16}) {
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
  constexpr std::int64_t kPartReals = 1 << 14, kMaxPartBlocks = 256;
  blocks_ = (n + plan_.block - 1) / plan_.block;
  part_blocks_ = std::clamp<std::int64_t>(kPartReals / block_reals(), 2 * plan_.taps, kMaxPartBlocks);
  width_ = padded(2 * plan_.taps, cpu::kBlockGrain<Real>);
  part_reals_ = static_cast<std::size_t>(padded(2 * (part_blocks_ + plan_.taps), 16));
  fft_ = make_built_in_engine<Real>(Shape(plan_.fft), false);

  // f_j = start + j·step is never rounded: its phases are sums of exact products.
  const auto period = static_cast<double>(n);
  const double centre = range.start + 0.5 * range.step * static_cast<double>(range.count - 1);
  const Window window(n, bandwidth(range), plan_);
  const std::vector<double> values = window.values();
  if (plan_.block > 1) make_taps(values, Turns(centre, period));
  const Response response(values, n, 0.5 * bandwidth(range));

  const Turns start(range.start, period), step(range.step, period), half_step(range.step, 2 * period);
  const std::int64_t lead = (plan_.taps - 1) * plan_.block;  // samples before the signal
  for (std::int64_t m = 0; m < sequence(); ++m) {
    Turns turns = start * (lead - m * plan_.block);
    if (plan_.chirp) turns = turns - half_step * (squared(m) * plan_.block);
    roots_.emplace_back(turns.root());
  }
  const double middle = 0.5 * static_cast<double>(window.length - 1) / period;
  for (std::int64_t j = 0; j < count_; ++j) {
    const double offset = range.start - centre + static_cast<double>(j) * range.step;
    Turns turns = step * (static_cast<__int128>(j) * lead);
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

/// The matrix from a block to the values that it contributes to, the first of which has the last taps.
template <class Real>
void ZoomFft<Real>::make_taps(const std::vector<double>& window, const Turns& centre) {
  const std::int64_t rows = block_reals(), grain = cpu::kBlockGrain<Real>;
  taps_.resize(static_cast<std::size_t>(rows * width_));
  const auto tap = [&](std::int64_t row, std::int64_t column) -> Real& {
    return taps_[static_cast<std::size_t>((column / grain * rows + row) * grain + column % grain)];
  };
  for (std::int64_t i = 0; i < plan_.taps * plan_.block; ++i) {
    const std::complex<double> value = window[static_cast<std::size_t>(i)] * (centre * -i).root();
    const std::int64_t column = 2 * (plan_.taps - 1 - i / plan_.block), sample = i % plan_.block,
                       row = real_ ? sample : 2 * sample;
    tap(row, column) = static_cast<Real>(value.real());
    tap(row, column + 1) = static_cast<Real>(value.imag());
    if (real_) continue;
    tap(row + 1, column) = static_cast<Real>(-value.imag());
    tap(row + 1, column + 1) = static_cast<Real>(value.real());
  }
}

/// −j·m = ((j − m)² − j² − m²)/2 makes the sum over m a convolution with exp(2πi half_cycle l²).
template <class Real>
void ZoomFft<Real>::make_chirp(const Turns& half_cycle) {
  const auto length = static_cast<std::size_t>(plan_.fft);
  std::vector<std::complex<double>> chirp(length);
  for (std::int64_t l = 0; l < std::max(count_, sequence()); ++l) {
    const std::complex<double> root = (half_cycle * squared(l)).root() / static_cast<double>(length);
    if (l < count_) chirp[static_cast<std::size_t>(l)] = root;
    if (l > 0 && l < sequence()) chirp[length - static_cast<std::size_t>(l)] = root;
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
std::size_t ZoomFft<Real>::part_bytes() const noexcept {
  return aligned_bytes(static_cast<std::size_t>(part_blocks_ * (width_ + block_reals())) * sizeof(Real));
}
template <class Real>
std::size_t ZoomFft<Real>::workspace_bytes(int threads) const noexcept {
  if (plan_.block == 1) return fft_bytes() + fft_->workspace_bytes(1);
  const std::size_t decimated = static_cast<std::size_t>(parts()) * part_reals_ * sizeof(Real);
  return fft_bytes() + decimated +
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
  auto* const decimated = reinterpret_cast<Real*>(scratch.workspace + fft_bytes());
  std::byte* rest = scratch.workspace + fft_bytes();
  std::fill_n(data, plan_.fft, Complex(0));
  if (plan_.block == 1) {
    copy_as_complex(signal, type, n_, data);
    for (std::int64_t m = 0; m < n_; ++m) data[m] = times(data[m], roots_[static_cast<std::size_t>(m)]);
  } else {
    rest += static_cast<std::size_t>(parts()) * part_reals_ * sizeof(Real);
    over_parts({rest, scratch.pool}, part_bytes(), parts(), [&](std::int64_t part, std::byte* own) {
      decimate(signal, type, part, decimated + static_cast<std::size_t>(part) * part_reals_,
               reinterpret_cast<Real*>(own));
    });
    add_parts(decimated, data);
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
void ZoomFft<Real>::decimate(const void* signal, ElementType type, std::int64_t part, Real* to,
                             Real* products) const {
  const std::int64_t first = part * part_blocks_, blocks = std::min(part_blocks_, blocks_ - first),
                     begin = first * plan_.block, samples = std::min(blocks * plan_.block, n_ - begin);
  const auto* const from =
      static_cast<const std::byte*>(signal) + static_cast<std::size_t>(begin) * element_bytes(type);
  const Real* x = reinterpret_cast<const Real*>(from);
  const bool own_type = type == (real_ ? element_type_of<Real>::value : element_type_of<Complex>::value);
  if (!own_type || samples < blocks * plan_.block) {
    Real* const own = products + part_blocks_ * width_;
    x = own;
    std::fill_n(own, blocks * block_reals(), Real(0));
    if (real_)
      copy_as_real(from, type, samples, own);
    else
      copy_as_complex(from, type, samples, reinterpret_cast<Complex*>(own));
  }
  cpu::matrix_kernels<Real>().blocks(x, blocks, block_reals(), taps_.data(), width_, products);
  for (std::int64_t m = 0; m < blocks + plan_.taps - 1; ++m) {
    const std::int64_t begin_column = std::max<std::int64_t>(0, m - blocks + 1),
                       end_column = std::min(plan_.taps - 1, m);
    Real re = 0, im = 0;
    for (std::int64_t c = begin_column; c <= end_column; ++c) {
      const Real* const product = products + (m - c) * width_ + 2 * c;
      re += product[0];
      im += product[1];
    }
    to[2 * m] = re;
    to[2 * m + 1] = im;
  }
}

/// Adds the parts' ends to the parts that follow, multiplies by the roots, and wraps the sequence around.
template <class Real>
void ZoomFft<Real>::add_parts(const Real* decimated, Complex* data) const {
  const std::int64_t overlap = plan_.taps - 1;
  std::int64_t place = 0;
  for (std::int64_t part = 0; part < parts(); ++part) {
    const auto* const own =
        reinterpret_cast<const Complex*>(decimated + static_cast<std::size_t>(part) * part_reals_);
    const auto* const before = part == 0 ? nullptr : own - part_reals_ / 2 + part_blocks_;
    const std::int64_t first = part * part_blocks_,
                       end = part + 1 < parts() ? first + part_blocks_ : sequence();
    for (std::int64_t m = first; m < end; ++m, ++place) {
      if (place == plan_.fft) place = 0;
      Complex value = own[m - first];
      if (before != nullptr && m - first < overlap) value += before[m - first];
      data[place] += times(value, roots_[static_cast<std::size_t>(m)]);
    }
  }
}

template double dense_us<float>(std::int64_t, bool);
template double dense_us<double>(std::int64_t, bool);
template ZoomPlan plan_zoom<float>(std::int64_t, bool, const FrequencyRange&);
template ZoomPlan plan_zoom<double>(std::int64_t, bool, const FrequencyRange&);
template class ZoomFft<float>;
template class ZoomFft<double>;

}  // namespace sfft::detail
