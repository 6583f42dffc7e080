// SPDX-License-Identifier: Apache-2.0
// Threads share the parts of the first pass, then the groups of the second. A group is stored while it is in
// cache.
#include "kernels/dense/cpu/built_in_parts.hpp"

#include <algorithm>
#include <numbers>
#include <optional>

#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/cpu/small_fft/small_fft.hpp"
#include "kernels/cpu/stages/two_pass.hpp"
#include "kernels/dense/cpu/convert.hpp"
#include "kernels/dense/cpu/shared_parts.hpp"
#include "kernels/dense/cpu/two_pass_fft.hpp"
#include "kernels/runtime/aligned_buffer.hpp"
#include "kernels/runtime/run_scope.hpp"

namespace sfft::detail {

namespace {

using cpu::kTwoPassLanes;

/// Shorter lines are faster in one piece: they stay in a core's cache, or one thread's passes over them in
/// the L3 cache are faster than strided passes.
constexpr std::int64_t kMinLinePoints = 1 << 16;
template <class Real>
constexpr std::int64_t kMinPointsAlone = sizeof(Real) == sizeof(float) ? 1 << 22 : kMinLinePoints;

template <class Real>
class LongLineEngine final : public DenseEngine<Real> {
  using Complex = std::complex<Real>;

 public:
  LongLineEngine(std::int64_t n, bool real) : n_(n), real_(real), forward_(n, real) {
    if (real) {
      pairs_.emplace(n / 2, false);
      roots_.emplace(n, n - 1);
    }
    for (const TwoPassFft<Real>* fft : {&forward_, pairs_ ? &*pairs_ : &forward_}) {
      thread_bytes_ = std::max(thread_bytes_, aligned_bytes(fft->scratch_reals() * sizeof(Real)));
      between_bytes_ = std::max(between_bytes_, aligned_bytes(fft->intermediate_reals() * sizeof(Real)));
    }
  }

  std::size_t workspace_bytes(int threads) const noexcept override {
    return between_bytes_ + static_cast<std::size_t>(threads) * thread_bytes_;
  }
  int threads_of(int max) const noexcept override { return threads_worth(n_, max); }

  void forward(const void* signal, ElementType type, Complex* spectrum,
               const EngineScratch& scratch) const override {
    if (!real_ && !is_complex(type)) {
      widen(signal, type, spectrum, scratch);
      signal = spectrum;
      type = element_type_of<Complex>::value;
    }
    first(forward_, signal, type, false, scratch);
    groups(forward_, scratch, [&](const typename TwoPassFft<Real>::Group& group) {
      if (real_) return store_half(group, spectrum);
      store(forward_, group.re, group.im, group, 1, spectrum);
    });
  }

  void inverse(const Complex* spectrum, Complex* signal, Real scale,
               const EngineScratch& scratch) const override {
    invert(forward_, spectrum, signal, scale, scratch);
  }

  void inverse(const Complex* spectrum, Real* signal, Real scale,
               const EngineScratch& scratch) const override {
    auto* const values = reinterpret_cast<Complex*>(signal);
    pack_real(spectrum, values, scratch);
    invert(*pairs_, values, values, scale, scratch);
  }

  std::string name() const override { return std::string("built-in ") + cpu::isa_name(); }

 private:
  /// The memory between the passes is at the start of the workspace.
  Real* between(const EngineScratch& scratch) const { return reinterpret_cast<Real*>(scratch.workspace); }
  EngineScratch of_threads(const EngineScratch& scratch) const {
    return {scratch.workspace + between_bytes_, scratch.pool};
  }

  void first(const TwoPassFft<Real>& fft, const void* from, ElementType type, bool inverse,
             const EngineScratch& scratch) const {
    over_parts(of_threads(scratch), thread_bytes_, fft.parts(), [&](std::int64_t part, std::byte* own) {
      fft.first(part, from, type, between(scratch), reinterpret_cast<Real*>(own), inverse);
    });
  }
  template <class Store>
  void groups(const TwoPassFft<Real>& fft, const EngineScratch& scratch, const Store& store) const {
    over_parts(of_threads(scratch), thread_bytes_, fft.groups(), [&](std::int64_t group, std::byte* own) {
      store(fft.second(group, between(scratch), reinterpret_cast<Real*>(own)));
    });
  }

  void invert(const TwoPassFft<Real>& fft, const Complex* from, Complex* to, Real scale,
              const EngineScratch& scratch) const {
    first(fft, from, element_type_of<Complex>::value, true, scratch);
    groups(fft, scratch, [&](const typename TwoPassFft<Real>::Group& group) {
      store(fft, group.im, group.re, group, scale, to);
    });
  }

  /// Column f2 of the group has the frequencies first_row + rows f2 … first_row + 7 + rows f2.
  static void store(const TwoPassFft<Real>& fft, const Real* re, const Real* im,
                    const typename TwoPassFft<Real>::Group& group, Real scale, Complex* to) {
    cpu::two_pass_kernels<Real>().store(re, im, fft.columns(), group.repeated, scale, fft.rows(),
                                        reinterpret_cast<Real*>(to + group.first_row));
  }

  /// Frequencies above N/2 are the conjugates of those below.
  void store_half(const typename TwoPassFft<Real>::Group& group, Complex* spectrum) const {
    const std::int64_t rows = forward_.rows();
    const std::int64_t last = group.first_row + kTwoPassLanes - 1;
    // These are the columns whose frequencies are all at most N/2.
    const std::int64_t low = n_ / 2 < last ? 0 : (n_ / 2 - last) / rows + 1;
    cpu::two_pass_kernels<Real>().store(group.re, group.im, low, group.repeated, 1, rows,
                                        reinterpret_cast<Real*>(spectrum + group.first_row));
    for (std::int64_t c = low; c < forward_.columns(); ++c) {
      for (std::int64_t lane = group.repeated; lane < kTwoPassLanes; ++lane) {
        const std::int64_t f = group.first_row + lane + rows * c, at = c * kTwoPassLanes + lane;
        if (2 * f > n_) {
          spectrum[n_ - f] = {group.re[at], -group.im[at]};
        } else {
          spectrum[f] = {group.re[at], group.im[at]};
        }
      }
    }
  }

  void widen(const void* signal, ElementType type, Complex* to, const EngineScratch& scratch) const {
    const auto* from = static_cast<const std::byte*>(signal);
    over_stretches(of_threads(scratch), thread_bytes_, n_, 1,
                   [&](std::int64_t begin, std::int64_t end, std::byte*) {
                     copy_as_complex(from + static_cast<std::size_t>(begin) * element_bytes(type), type,
                                     end - begin, to + begin);
                   });
  }

  /// Computes twice the spectrum of the N/2 pairs x[2t] + i x[2t + 1] (see LayoutKernels::pack_real). The
  /// arrays may be the same memory.
  void pack_real(const Complex* spectrum, Complex* pairs, const EngineScratch& scratch) const {
    const std::int64_t half = n_ / 2;
    const Real first = spectrum[0].real(), last = spectrum[half].real();
    const auto pair = [&](std::int64_t k, Complex a, Complex b) -> Complex {
      const std::complex<double> root = std::conj((*roots_)(k));
      const auto c = static_cast<Real>(root.real()), s = static_cast<Real>(root.imag());
      const Real odd_re = a.real() - b.real(), odd_im = a.imag() + b.imag();
      return {a.real() + b.real() - (c * odd_im + s * odd_re),
              a.imag() - b.imag() + (c * odd_re - s * odd_im)};
    };
    over_stretches(of_threads(scratch), thread_bytes_, half / 2 + 1, 2,
                   [&](std::int64_t begin, std::int64_t end, std::byte*) {
                     for (std::int64_t k = std::max<std::int64_t>(1, begin); k < end; ++k) {
                       const Complex a = spectrum[k], b = spectrum[half - k];
                       pairs[k] = pair(k, a, b);
                       pairs[half - k] = pair(half - k, b, a);
                     }
                   });
    pairs[0] = {first + last, first - last};
  }

  std::int64_t n_;
  bool real_;
  TwoPassFft<Real> forward_;
  std::optional<TwoPassFft<Real>> pairs_;  ///< for inverses of real signals
  std::optional<RootTable> roots_;
  std::size_t thread_bytes_ = 0, between_bytes_ = 0;
};

/// Real lines of odd length have no pairs of samples, so they are transformed as complex ones.
template <class Real>
class OddRealLineEngine final : public DenseEngine<Real> {
  using Complex = std::complex<Real>;

 public:
  explicit OddRealLineEngine(std::int64_t n) : n_(static_cast<std::size_t>(n)), line_(n, false) {}

  std::size_t workspace_bytes(int threads) const noexcept override {
    return values_bytes() + line_.workspace_bytes(threads);
  }
  int threads_of(int max) const noexcept override { return line_.threads_of(max); }

  void forward(const void* signal, ElementType type, Complex* spectrum,
               const EngineScratch& scratch) const override {
    Complex* const values = of(scratch);
    line_.forward(signal, type, values, rest(scratch));
    in_blocks(n_ / 2 + 1, [&](std::size_t begin, std::size_t end) {
      std::copy(values + begin, values + end, spectrum + begin);
    });
  }
  void inverse(const Complex* spectrum, Complex* signal, Real scale,
               const EngineScratch& scratch) const override {
    line_.inverse(spectrum, signal, scale, rest(scratch));
  }
  void inverse(const Complex* spectrum, Real* signal, Real scale,
               const EngineScratch& scratch) const override {
    Complex* const values = of(scratch);
    values[0] = spectrum[0].real();
    in_blocks(n_ / 2, [&](std::size_t begin, std::size_t end) {
      for (std::size_t f = begin + 1; f <= end; ++f) {
        values[f] = spectrum[f];
        values[n_ - f] = std::conj(spectrum[f]);
      }
    });
    line_.inverse(values, values, scale, rest(scratch));
    in_blocks(n_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t t = begin; t < end; ++t) signal[t] = values[t].real();
    });
  }
  std::string name() const override { return line_.name(); }

 private:
  std::size_t values_bytes() const noexcept { return aligned_bytes(n_ * sizeof(Complex)); }
  static Complex* of(const EngineScratch& scratch) { return reinterpret_cast<Complex*>(scratch.workspace); }
  EngineScratch rest(const EngineScratch& scratch) const {
    return {scratch.workspace + values_bytes(), scratch.pool};
  }

  std::size_t n_;
  LongLineEngine<Real> line_;
};

}  // namespace

template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_long_line_engine(const Shape& shape, bool real, int threads) {
  const std::int64_t n = shape.points();
  if (threads == 1 && n < kMinPointsAlone<Real>) return nullptr;
  if (shape[shape.rank() - 1] != n || n < kMinLinePoints || !two_pass_possible(n)) return nullptr;
  if (real && n % 2 != 0) {
    constexpr std::int64_t kMinOddPoints = 1 << 20;  // shorter ones are faster in one piece, or as fast
    return n < kMinOddPoints ? nullptr : std::make_unique<const OddRealLineEngine<Real>>(n);
  }
  if (real && !two_pass_possible(n / 2)) return nullptr;
  return std::make_unique<const LongLineEngine<Real>>(n, real);
}

template std::unique_ptr<const DenseEngine<float>> make_long_line_engine(const Shape&, bool, int);
template std::unique_ptr<const DenseEngine<double>> make_long_line_engine(const Shape&, bool, int);

}  // namespace sfft::detail
