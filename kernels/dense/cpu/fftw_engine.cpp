// SPDX-License-Identifier: Apache-2.0
// FFTW (Frigo and Johnson, Proc. IEEE 93, 2005) as a dense engine, if the build includes it.
#include "kernels/dense/problem/engine.hpp"

#if defined(SFFT_HAVE_FFTW)

#include <array>
#include <cstring>

#include "kernels/dense/cpu/convert.hpp"
#include "kernels/dense/cpu/fftw_plans.hpp"

namespace sfft::detail {

namespace {

template <class Real>
using Extents = std::array<typename Fftw<Real>::Extent, 3>;

/// Row-major extents with row strides of `in_row` and `out_row` values.
template <class Real>
Extents<Real> extents(const Shape& shape, std::int64_t in_row, std::int64_t out_row) {
  Extents<Real> all{};
  std::int64_t in = 1, out = 1;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    all[static_cast<std::size_t>(d)] = {shape[d], in, out};
    const bool last = d == shape.rank() - 1;
    in *= last ? in_row : shape[d];
    out *= last ? out_row : shape[d];
  }
  return all;
}

/// FFTW's threads share a transform if its threads library was found. The constructor plans the forward
/// transform; the first use of each other transform plans it. Arrays are used in place if their type allows.
/// FFTW_MEASURE times candidates on scratch arrays, never on the user's.
template <class Real>
class FftwEngine final : public DenseEngine<Real> {
  using Api = Fftw<Real>;
  using Complex = typename Api::Complex;
  using std_complex = std::complex<Real>;

 public:
  FftwEngine(const Shape& shape, bool real, dense::Options::Planning planning, int threads)
      : points_(shape.points()),
        row_(shape[shape.rank() - 1]),
        spectrum_points_(real ? points_ / row_ * (row_ / 2 + 1) : points_),
        real_(real),
        measure_(planning == dense::Options::Planning::measure),
        forward_complex_(complex_plan(shape, FFTW_FORWARD), complex_bytes(), complex_bytes(), flags(),
                         threads),
        inverse_complex_(complex_plan(shape, FFTW_BACKWARD), complex_bytes(), complex_bytes(), flags(),
                         threads),
        forward_real_(
            [shape, n = extents<Real>(shape, row_, row_ / 2 + 1)](Real* in, Complex* out, unsigned flags) {
              return Api::plan_forward(shape.rank(), n.data(), in, out, flags | FFTW_PRESERVE_INPUT);
            },
            real_bytes(), complex_bytes(), flags(), threads),
        // A multidimensional real inverse cannot preserve its input, so it gets a copy.
        inverse_real_(
            [shape, n = extents<Real>(shape, row_ / 2 + 1, row_)](Complex* in, Real* out, unsigned flags) {
              return Api::plan_inverse(shape.rank(), n.data(), in, out, flags | FFTW_DESTROY_INPUT);
            },
            complex_bytes(), real_bytes(), flags(), threads) {
    real ? forward_real_.prepare() : forward_complex_.prepare();
  }

  std::size_t workspace_bytes(int) const noexcept override { return complex_bytes(); }
  int threads_of(int) const noexcept override { return 1; }  // of the pool: FFTW has its own threads

  void forward(const void* signal, ElementType type, std_complex* spectrum,
               const EngineScratch& scratch) const override {
    if (real_) {
      auto* in = static_cast<Real*>(const_cast<void*>(signal));
      if (type != element_type_of<Real>::value) {
        in = reinterpret_cast<Real*>(scratch.workspace);
        copy_as_real(signal, type, points_, in);
      }
      forward_real_.execute(in, Api::complex(spectrum));
      return;
    }
    const auto* in = static_cast<const std_complex*>(signal);
    if (type != element_type_of<std_complex>::value || in == spectrum) {
      in = reinterpret_cast<std_complex*>(scratch.workspace);
      copy_as_complex(signal, type, points_, reinterpret_cast<std_complex*>(scratch.workspace));
    }
    forward_complex_.execute(Api::complex(in), Api::complex(spectrum));
  }

  void inverse(const std_complex* spectrum, std_complex* signal, Real scale,
               const EngineScratch& scratch) const override {
    if (spectrum == signal) spectrum = copy(spectrum, scratch.workspace);
    inverse_complex_.execute(Api::complex(spectrum), Api::complex(signal));
    multiply_by(scale, reinterpret_cast<Real*>(signal), 2 * points_);
  }

  void inverse(const std_complex* spectrum, Real* signal, Real scale,
               const EngineScratch& scratch) const override {
    inverse_real_.execute(Api::complex(copy(spectrum, scratch.workspace)), signal);
    multiply_by(scale, signal, points_);
  }

  std::string name() const override {
    // "fftw-3.3.10-sse2-avx": keep only the version.
    std::string version = Api::version();
    version = version.substr(version.find('-') + 1);
    return "FFTW " + version.substr(0, version.find('-')) + (measure_ ? " (measure)" : " (estimate)");
  }

 private:
  static auto complex_plan(const Shape& shape, int sign) {
    return [shape, sign, n = extents<Real>(shape, shape[shape.rank() - 1], shape[shape.rank() - 1])](
               Complex* in, Complex* out, unsigned flags) {
      return Api::plan_complex(shape.rank(), n.data(), in, out, sign, flags | FFTW_PRESERVE_INPUT);
    };
  }

  std::size_t complex_bytes() const {
    return static_cast<std::size_t>(spectrum_points_) * sizeof(std_complex);
  }
  std::size_t real_bytes() const { return static_cast<std::size_t>(points_) * sizeof(Real); }
  unsigned flags() const { return measure_ ? FFTW_MEASURE : FFTW_ESTIMATE; }

  const std_complex* copy(const std_complex* spectrum, std::byte* workspace) const {
    std::memcpy(workspace, spectrum, complex_bytes());
    return reinterpret_cast<const std_complex*>(workspace);
  }

  static void multiply_by(Real scale, Real* x, std::int64_t count) {
    if (scale == 1) return;
    for (std::int64_t i = 0; i < count; ++i) x[i] *= scale;
  }

  std::int64_t points_, row_, spectrum_points_;
  bool real_, measure_;
  FftwPlans<Real, Complex, Complex> forward_complex_, inverse_complex_;
  FftwPlans<Real, Real, Complex> forward_real_;
  FftwPlans<Real, Complex, Real> inverse_real_;
};

}  // namespace

bool have_fftw() noexcept {
  return true;
}

template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_fftw_engine(const Shape& shape, bool real,
                                                          dense::Options::Planning planning, int threads) {
  return std::make_unique<const FftwEngine<Real>>(shape, real, planning, threads);
}

}  // namespace sfft::detail

#else

namespace sfft::detail {

bool have_fftw() noexcept {
  return false;
}

template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_fftw_engine(const Shape&, bool, dense::Options::Planning, int) {
  return nullptr;
}

}  // namespace sfft::detail

#endif

namespace sfft::detail {

template std::unique_ptr<const DenseEngine<float>> make_fftw_engine(const Shape&, bool,
                                                                    dense::Options::Planning, int);
template std::unique_ptr<const DenseEngine<double>> make_fftw_engine(const Shape&, bool,
                                                                     dense::Options::Planning, int);

}  // namespace sfft::detail
