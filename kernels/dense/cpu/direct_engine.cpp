// SPDX-License-Identifier: Apache-2.0
// Computes a transform as one real matrix, from the parts of the input values to those of the output values.
#include "kernels/dense/cpu/built_in_parts.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/base/math/index.hpp"
#include "kernels/cpu/platform/isa.hpp"
#include "kernels/cpu/stages/matrix_product.hpp"
#include "kernels/dense/cpu/convert.hpp"

namespace sfft::detail {

namespace {

/// For larger matrices an FFT is faster.
constexpr std::int64_t kMaxBytes = 4096;

/// The matrix of one direction. Its rows are the parts of the input values.
template <class Real>
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::int64_t inputs, std::int64_t outputs)
      : rows_(rounded(inputs, cpu::kMatrixRows)),
        outputs_(outputs),
        width_(rounded(outputs, cpu::kMatrixGrain)),
        values_(static_cast<std::size_t>(rows_ * width_)) {}

  void add(std::int64_t input, std::int64_t output, double value) {
    values_[static_cast<std::size_t>(input * width_ + output)] += static_cast<Real>(value);
  }
  std::size_t reals() const noexcept { return static_cast<std::size_t>(rows_ + width_); }
  /// The memory for the caller's input. The rest of the vector is zero.
  Real* input(std::byte* workspace) const {
    auto* const x = reinterpret_cast<Real*>(workspace);
    std::fill_n(x + rows_ - cpu::kMatrixRows, cpu::kMatrixRows, Real(0));
    return x;
  }
  void multiply(std::byte* workspace, Real scale, Real* to) const {
    auto* const x = reinterpret_cast<Real*>(workspace);
    cpu::matrix_kernels<Real>().product(x, rows_, values_.data(), width_, scale, x + rows_);
    std::memcpy(to, x + rows_, static_cast<std::size_t>(outputs_) * sizeof(Real));
  }

 private:
  static std::int64_t rounded(std::int64_t n, std::int64_t grain) { return (n + grain - 1) / grain * grain; }

  std::int64_t rows_ = 0, outputs_ = 0, width_ = 0;
  std::vector<Real> values_;
};

template <class Real>
class DirectEngine final : public DenseEngine<Real> {
  using Complex = std::complex<Real>;

 public:
  DirectEngine(const Shape& shape, bool real) : real_(real), points_(shape.points()) {
    const std::int64_t row = shape[shape.rank() - 1], kept = real ? row / 2 + 1 : row, parts = real ? 1 : 2;
    spectrum_points_ = points_ / row * kept;
    there_ = Matrix<Real>(parts * points_, 2 * spectrum_points_);
    back_ = Matrix<Real>(2 * spectrum_points_, parts * points_);
    for (std::int64_t t = 0; t < points_; ++t) {
      for (std::int64_t f = 0; f < points_; ++f) {
        const std::complex<double> root = std::conj(unit_root(turns(shape, t, f), points_));
        const std::int64_t column = f % row, at = f / row * kept + column;
        if (column < kept) {
          for (std::int64_t p = 0; p < parts; ++p) {
            const std::complex<double> value =
                p == 0 ? root : std::complex<double>(-root.imag(), root.real());
            there_.add(parts * t + p, 2 * at, value.real());
            there_.add(parts * t + p, 2 * at + 1, value.imag());
          }
        }
        // Half spectra lack the opposite frequencies, which contribute equally to real signals.
        const double times = !real ? 1 : column >= kept ? 0 : column == 0 || 2 * column == row ? 1 : 2;
        if (times == 0) continue;
        back_.add(2 * at, parts * t, times * root.real());
        back_.add(2 * at + 1, parts * t, times * root.imag());
        if (real) continue;
        back_.add(2 * at, parts * t + 1, -root.imag());
        back_.add(2 * at + 1, parts * t + 1, root.real());
      }
    }
  }

  std::size_t workspace_bytes(int) const noexcept override {
    return (std::max(there_.reals(), back_.reals()) * sizeof(Real) + 63) / 64 * 64;
  }
  int threads_of(int) const noexcept override { return 1; }

  void forward(const void* signal, ElementType type, Complex* spectrum,
               const EngineScratch& scratch) const override {
    Real* const x = there_.input(scratch.workspace);
    if (real_) {
      copy_as_real(signal, type, points_, x);
    } else {
      copy_as_complex(signal, type, points_, reinterpret_cast<Complex*>(x));
    }
    there_.multiply(scratch.workspace, 1, reinterpret_cast<Real*>(spectrum));
  }
  void inverse(const Complex* spectrum, Complex* signal, Real scale,
               const EngineScratch& scratch) const override {
    std::copy_n(spectrum, points_, reinterpret_cast<Complex*>(back_.input(scratch.workspace)));
    back_.multiply(scratch.workspace, scale, reinterpret_cast<Real*>(signal));
  }
  void inverse(const Complex* spectrum, Real* signal, Real scale,
               const EngineScratch& scratch) const override {
    std::copy_n(spectrum, spectrum_points_, reinterpret_cast<Complex*>(back_.input(scratch.workspace)));
    back_.multiply(scratch.workspace, scale, signal);
  }
  std::string name() const override { return std::string("built-in ") + cpu::isa_name(); }

 private:
  /// Σ_d f_d·t_d·N/n_d
  static std::int64_t turns(const Shape& shape, std::int64_t t, std::int64_t f) {
    std::int64_t sum = 0;
    for (int d = shape.rank() - 1; d >= 0; --d) {
      sum += t % shape[d] * (f % shape[d]) * (shape.points() / shape[d]);
      t /= shape[d];
      f /= shape[d];
    }
    return sum % shape.points();
  }

  bool real_;
  std::int64_t points_, spectrum_points_ = 0;
  Matrix<Real> there_, back_;
};

}  // namespace

template <class Real>
std::unique_ptr<const DenseEngine<Real>> make_direct_engine(const Shape& shape, bool real) {
  const auto extents = shape.extents();
  const auto dimensions = std::count_if(extents.begin(), extents.end(), [](std::int64_t n) { return n > 1; });
  constexpr std::int64_t kMaxPoints = 64;  // far more points than fit in the matrix
  if (dimensions < 2 || shape.points() > kMaxPoints) return nullptr;
  const std::int64_t row = shape[shape.rank() - 1], inputs = (real ? 1 : 2) * shape.points(),
                     outputs = 2 * (shape.points() / row) * (real ? row / 2 + 1 : row);
  if (inputs * outputs * static_cast<std::int64_t>(sizeof(Real)) > kMaxBytes) return nullptr;
  return std::make_unique<const DirectEngine<Real>>(shape, real);
}

template std::unique_ptr<const DenseEngine<float>> make_direct_engine(const Shape&, bool);
template std::unique_ptr<const DenseEngine<double>> make_direct_engine(const Shape&, bool);

}  // namespace sfft::detail
