// SPDX-License-Identifier: Apache-2.0
// Bluestein's convolution in three passes over memory. The first transforms columns. The second processes
// groups of rows in cache: the forward transform, the product with the kernel's spectrum, and the rows of the
// inverse. The third transforms the columns of the inverse.
#include "kernels/dense/cpu/built_in_parts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "kernels/base/math/index.hpp"
#include "kernels/cpu/platform/large_buffer.hpp"
#include "kernels/cpu/small_fft/small_fft_radix.hpp"
#include "kernels/cpu/stages/two_pass.hpp"
#include "kernels/dense/cpu/line_stage.hpp"
#include "kernels/dense/cpu/shared_parts.hpp"
#include "kernels/dense/cpu/two_pass_fft.hpp"
#include "kernels/runtime/run_scope.hpp"

namespace sfft::detail {

namespace {

using cpu::kTwoPassLanes;

constexpr std::int64_t kMinChirpPoints = 1 << 16;  ///< shorter convolutions stay in a core's cache
constexpr std::int64_t kMaxChirpSide = 1 << 14;    ///< longer lines do not stay in a core's cache

struct Sides {
  std::int64_t rows = 0, columns = 0;
};

/// The cheapest product of two multiples of the lanes that is at least `min`, or 0 if there is none.
template <class Real>
Sides convolution_sides(std::int64_t min) {
  const cpu::SmallFftKernels<Real>& kernels = cpu::small_fft_kernels<Real>(cpu::best_isa());
  const auto cost = [&](std::int64_t n) {
    const cpu::RadixPlan plan = cpu::choose_radices(n, kTwoPassLanes, kernels);
    return plan.possible ? plan.cost / static_cast<double>(n) : std::numeric_limits<double>::infinity();
  };
  constexpr std::int64_t kTried = 8;
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(min)));
  Sides best;
  double best_cost = std::numeric_limits<double>::infinity();
  for (std::int64_t rows = root / 2 / kTwoPassLanes * kTwoPassLanes; rows <= root; rows += kTwoPassLanes) {
    const double of_rows = rows == 0 ? std::numeric_limits<double>::infinity() : cost(rows);
    if (std::isinf(of_rows)) continue;
    std::int64_t columns = (min + rows * kTwoPassLanes - 1) / (rows * kTwoPassLanes) * kTwoPassLanes;
    for (int tried = 0; tried < kTried && columns <= kMaxChirpSide; ++tried, columns += kTwoPassLanes) {
      const double total = static_cast<double>(rows * columns) * (of_rows + cost(columns));
      if (total >= best_cost) continue;
      best_cost = total;
      best = {rows, columns};
    }
  }
  return best;
}

template <class Real>
class LongChirpEngine final : public DenseEngine<Real> {
  using Complex = std::complex<Real>;
  using Buffers = cpu::SplitBuffers<Real>;

 public:
  LongChirpEngine(std::int64_t n, bool real, const Sides& sides)
      : n_(n),
        real_(real),
        there_(sides.rows, sides.columns),
        back_(sides.columns, sides.rows),
        modulate_(cpu::small_fft_kernels<Real>(cpu::best_isa()).modulate) {
    // X[k] = c[k] Σ_j (x[j] c[j]) conj(c[k−j]), c[j] = exp(−πi j²/n).
    enter_stage("planning: tables");
    const std::int64_t length = sides.rows * sides.columns;
    const auto size = static_cast<std::size_t>(length);
    cpu::LargeArray<std::complex<double>> wrapped(size);
    for (cpu::LargeArray<Real>* table : {&chirp_re_, &chirp_im_, &kernel_re_, &kernel_im_})
      *table = cpu::LargeArray<Real>(size);
    in_blocks(size, [&](std::size_t begin, std::size_t end) {
      std::fill(wrapped.begin() + begin, wrapped.begin() + end, 0.0);
      std::fill(chirp_re_.begin() + begin, chirp_re_.begin() + end, Real(0));
      std::fill(chirp_im_.begin() + begin, chirp_im_.begin() + end, Real(0));
    });
    const auto add_to_chirp = [&](std::int64_t j) {
      const std::complex<double> root = unit_root(multiply_mod(j, j, 2 * n), 2 * n);
      const std::int64_t row = j / sides.columns, column = j % sides.columns, lane = column % kTwoPassLanes;
      const auto at = static_cast<std::size_t>((column - lane) * sides.rows + row * kTwoPassLanes + lane);
      chirp_re_[at] = static_cast<Real>(root.real());
      chirp_im_[at] = static_cast<Real>(-root.imag());
      wrapped[static_cast<std::size_t>(j)] = wrapped[static_cast<std::size_t>((length - j) % length)] = root;
    };
    in_blocks(static_cast<std::size_t>(n), [&](std::size_t begin, std::size_t end) {
      for (std::size_t j = begin; j < end; ++j) add_to_chirp(static_cast<std::int64_t>(j));
    });
    const TwoPassFft<double> exact(sides.rows, sides.columns);
    cpu::LargeArray<double> between(exact.intermediate_reals()), scratch(exact.scratch_reals());
    touch(reinterpret_cast<std::byte*>(between.begin()), between.size() * sizeof(double));
    for (std::int64_t part = 0; part < exact.parts(); ++part) {
      poll_stop();
      exact.first(part, wrapped.begin(), ElementType::c128, between.begin(), scratch.begin());
    }
    const double scale = 1.0 / static_cast<double>(length);
    for (std::int64_t group = 0; group < exact.groups(); ++group) {
      poll_stop();
      const auto done = exact.second(group, between.begin(), scratch.begin());
      Real* const re = kernel_re_.begin() + group * group_values();
      Real* const im = kernel_im_.begin() + group * group_values();
      for (std::int64_t i = 0; i < group_values(); ++i) {
        re[i] = static_cast<Real>(scale * done.re[i]);
        im[i] = static_cast<Real>(scale * done.im[i]);
      }
    }
    between_bytes_ = aligned(there_.intermediate_reals());
    thread_bytes_ = aligned(SplitWorkspace<Real>::total(
        static_cast<std::size_t>(kTwoPassLanes * std::max(sides.rows, sides.columns))));
  }

  std::size_t workspace_bytes(int threads) const noexcept override {
    return between_bytes_ + aligned(back_.intermediate_reals()) +
           static_cast<std::size_t>(threads) * thread_bytes_;
  }
  int threads_of(int max) const noexcept override { return threads_worth(n_, max); }

  void forward(const void* signal, ElementType type, Complex* spectrum,
               const EngineScratch& scratch) const override {
    const auto bytes = static_cast<std::int64_t>(element_bytes(type));
    const auto* const from = static_cast<const std::byte*>(signal);
    const auto load = [&](std::int64_t at, std::int64_t count, Real* re, Real* im) {
      split_elements(from + at * bytes, type, count, re, im);
    };
    const auto load_rows = [&](std::int64_t at, std::int64_t rows, Real* re, Real* im) {
      if (is_complex(type)) return load_complex_rows(from + at * bytes, type, rows, re, im);
      one_by_one(load, at, rows, re, im);
    };
    const std::int64_t kept = real_ ? n_ / 2 + 1 : n_;
    convolve(load, load_rows, kept, scratch,
             [&](std::int64_t at, std::int64_t rows, const Real* re, const Real* im, std::int64_t count) {
               store_rows(re, im, rows, count, 1, spectrum + at);
             });
  }

  /// The inverse is the forward transform with real and imaginary parts exchanged.
  void inverse(const Complex* spectrum, Complex* signal, Real scale,
               const EngineScratch& scratch) const override {
    constexpr ElementType kType = element_type_of<Complex>::value;
    convolve([&](std::int64_t at, std::int64_t count, Real* re,
                 Real* im) { split_elements(spectrum + at, kType, count, im, re); },
             [&](std::int64_t at, std::int64_t rows, Real* re, Real* im) {
               load_complex_rows(spectrum + at, kType, rows, im, re);
             },
             n_, scratch,
             [&](std::int64_t at, std::int64_t rows, const Real* re, const Real* im, std::int64_t count) {
               store_rows(im, re, rows, count, scale, signal + at);
             });
  }

  void inverse(const Complex* spectrum, Real* signal, Real scale,
               const EngineScratch& scratch) const override {
    const auto load = [&](std::int64_t at, std::int64_t count, Real* re, Real* im) {
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t f = at + i;
        const Complex value = 2 * f < n_ ? spectrum[f] : std::conj(spectrum[n_ - f]);
        re[i] = f == 0 ? 0 : value.imag();
        im[i] = value.real();
      }
    };
    convolve(
        load,
        [&](std::int64_t at, std::int64_t rows, Real* re, Real* im) { one_by_one(load, at, rows, re, im); },
        n_, scratch,
        [&](std::int64_t at, std::int64_t rows, const Real*, const Real* im, std::int64_t count) {
          for (std::int64_t row = 0; row < rows; ++row) {
            for (std::int64_t i = 0; i < count; ++i)
              signal[at + row * there_.columns() + i] = scale * im[row * kTwoPassLanes + i];
          }
        });
  }

  std::string name() const override { return std::string("built-in ") + cpu::isa_name(); }

 private:
  static std::size_t aligned(std::size_t reals) { return (reals * sizeof(Real) + 63) / 64 * 64; }
  std::int64_t group_values() const noexcept { return kTwoPassLanes * there_.columns(); }

  /// load(at, count, re, im) returns up to eight values of the signal; load_rows(at, rows, re, im) returns
  /// eight values of each row. store(at, rows, re, im, count) receives `count` values per row of the first
  /// `kept` values of the spectrum. All values are loaded before the first one is stored.
  template <class Load, class LoadRows, class Store>
  void convolve(const Load& load, const LoadRows& load_rows, std::int64_t kept, const EngineScratch& scratch,
                const Store& store) const {
    auto* const between = reinterpret_cast<Real*>(scratch.workspace);
    auto* const after = reinterpret_cast<Real*>(scratch.workspace + between_bytes_);
    const EngineScratch threads{scratch.workspace + between_bytes_ + aligned(back_.intermediate_reals()),
                                scratch.pool};
    over_parts(threads, thread_bytes_, there_.parts(), [&](std::int64_t part, std::byte* own) {
      const Buffers data = buffers(own);
      const std::int64_t column = part * kTwoPassLanes, rows = whole_rows(n_, column),
                         at = column + rows * there_.columns(), more = std::max<std::int64_t>(0, n_ - at),
                         loaded = rows * kTwoPassLanes;
      load_rows(column, rows, data.re, data.im);
      if (more > 0) load(at, more, data.re + loaded, data.im + loaded);
      std::fill(data.re + loaded + more, data.re + part_values(), Real(0));
      std::fill(data.im + loaded + more, data.im + part_values(), Real(0));
      times_chirp(part, data.re, data.im);
      there_.first_of(column, data, between);
    });
    over_parts(threads, thread_bytes_, there_.groups(), [&](std::int64_t group, std::byte* own) {
      const Buffers data = buffers(own);
      const auto done = there_.second(group, between, data.re);
      const std::int64_t first = group * group_values();
      modulate_(done.re, done.im, 1, data.other_re, data.other_im, 1, group_values(), 1,
                kernel_re_.begin() + first, kernel_im_.begin() + first);
      // An inverse FFT is a forward one with real and imaginary parts exchanged.
      back_.first_of(done.first_row, {data.other_im, data.other_re, done.im, done.re}, after);
    });
    over_parts(threads, thread_bytes_, back_.groups(), [&](std::int64_t group, std::byte* own) {
      const auto done = back_.second(group, after, buffers(own).re);
      times_chirp(group, done.im, done.re);
      const std::int64_t rows = whole_rows(kept, done.first_row), stored = rows * kTwoPassLanes,
                         at = done.first_row + rows * there_.columns();
      store(done.first_row, rows, done.im, done.re, kTwoPassLanes);
      if (at < kept) store(at, 1, done.im + stored, done.re + stored, kept - at);
    });
  }

  std::int64_t part_values() const noexcept { return kTwoPassLanes * there_.rows(); }
  /// The number of rows whose eight values from this column on are all among the first `count`.
  std::int64_t whole_rows(std::int64_t count, std::int64_t column) const noexcept {
    const std::int64_t last = column + kTwoPassLanes;
    return count < last ? 0 : (count - last) / there_.columns() + 1;
  }
  void times_chirp(std::int64_t part, Real* re, Real* im) const {
    const std::int64_t first = part * part_values();
    modulate_(re, im, 1, re, im, 1, part_values(), 1, chirp_re_.begin() + first, chirp_im_.begin() + first);
  }
  void load_complex_rows(const void* from, ElementType type, std::int64_t rows, Real* re, Real* im) const {
    cpu::two_pass_kernels<Real>().load[static_cast<std::size_t>(type)](from, there_.columns(), rows, re, im);
  }
  template <class Load>
  void one_by_one(const Load& load, std::int64_t at, std::int64_t rows, Real* re, Real* im) const {
    for (std::int64_t row = 0; row < rows; ++row)
      load(at + row * there_.columns(), kTwoPassLanes, re + row * kTwoPassLanes, im + row * kTwoPassLanes);
  }
  void store_rows(const Real* re, const Real* im, std::int64_t rows, std::int64_t count, Real scale,
                  Complex* to) const {
    if (count == kTwoPassLanes) {
      cpu::two_pass_kernels<Real>().store(re, im, rows, 0, scale, there_.columns(),
                                          reinterpret_cast<Real*>(to));
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) to[i] = {scale * re[i], scale * im[i]};
  }

  Buffers buffers(std::byte* own) const {
    const SplitWorkspace<Real> split(
        own, static_cast<std::size_t>(kTwoPassLanes * std::max(there_.rows(), there_.columns())));
    return {split.re, split.im, split.other_re, split.other_im};
  }

  std::int64_t n_;
  bool real_;
  TwoPassFft<Real> there_, back_;  ///< the rows of one are the columns of the other
  decltype(cpu::SmallFftKernels<Real>::modulate) modulate_;
  cpu::LargeArray<Real> chirp_re_, chirp_im_;    ///< c, then zeros, in parts of there_
  cpu::LargeArray<Real> kernel_re_, kernel_im_;  ///< wrapped spectrum of conj(c), in groups of there_
  std::size_t between_bytes_ = 0, thread_bytes_ = 0;
};

}  // namespace

template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_long_chirp_engine(const Shape& shape, bool real) {
  const std::int64_t n = shape.points();
  if (shape[shape.rank() - 1] != n || n < kMinChirpPoints || (real && n % 2 == 0)) return nullptr;
  if (cpu::choose_radices(n, 1, cpu::small_fft_kernels<Real>(cpu::best_isa())).possible) return nullptr;
  const Sides sides = convolution_sides<Real>(2 * n - 1);
  if (sides.rows == 0) return nullptr;
  return std::make_unique<const LongChirpEngine<Real>>(n, real, sides);
}

template std::unique_ptr<const DenseEngine<float>> make_long_chirp_engine(const Shape&, bool);
template std::unique_ptr<const DenseEngine<double>> make_long_chirp_engine(const Shape&, bool);

}  // namespace sfft::detail
