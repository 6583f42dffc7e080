#include "kernels/cpu/flat_recover.hpp"
#include "kernels/cpu/simd.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

template <class Real>
Real sum_lanes(typename Simd<Real>::Vector v) {
  Real sum = 0;
  for (int l = 0; l < Simd<Real>::kLanes; ++l) sum += v[l];
  return sum;
}

template <class Real>
void read_complex(const Real* re, const Real* im, const std::int32_t* start, const Real* weights, std::int64_t length,
                  std::int64_t rows, Real* values) {
  using S = Simd<Real>;
  for (std::int64_t i = 0; i < rows; ++i, weights += 2 * length) {
    const Real* zr = re + start[i];
    const Real* zi = im + start[i];
    typename S::Vector sum_re{}, sum_im{};
    for (std::int64_t q = 0; q < length; q += S::kLanes) {
      const auto a = S::load(weights + q), b = S::load(weights + length + q);
      const auto x = S::load(zr + q), y = S::load(zi + q);
      sum_re += a * x;
      sum_re -= b * y;
      sum_im += a * y;
      sum_im += b * x;
    }
    values[2 * i] = sum_lanes<Real>(sum_re);
    values[2 * i + 1] = sum_lanes<Real>(sum_im);
  }
}

template <class Real>
void read_real(const Real* re, const Real* im, const std::int32_t* start, const std::int32_t* mirror,
               const Real* weights, std::int64_t length, std::int64_t rows, Real* values) {
  using S = Simd<Real>;
  for (std::int64_t i = 0; i < rows; ++i, weights += 4 * length) {
    const Real* zr = re + start[i];
    const Real* zi = im + start[i];
    const Real* mr = re + mirror[i];
    const Real* mi = im + mirror[i];
    typename S::Vector sum_re{}, sum_im{};
    for (std::int64_t q = 0; q < length; q += S::kLanes) {
      const auto a = S::load(weights + q), b = S::load(weights + length + q);
      const auto x = S::load(zr + q), y = S::load(zi + q);
      sum_re += a * x;
      sum_re -= b * y;
      sum_im += a * y;
      sum_im += b * x;
      const auto c = S::load(weights + 2 * length + q), d = S::load(weights + 3 * length + q);
      const auto u = S::load(mr + q), v = S::load(mi + q);
      sum_re += c * u;
      sum_re += d * v;
      sum_im += d * u;
      sum_im -= c * v;
    }
    values[2 * i] = sum_lanes<Real>(sum_re);
    values[2 * i + 1] = sum_lanes<Real>(sum_im);
  }
}

template <class Real>
void standard_errors(Real scale, const Real* root_gain, std::int64_t k, Real* error) {
  for (std::int64_t i = 0; i < k; ++i) error[i] = scale * root_gain[i];
}

template <class Real>
constexpr FlatRecoverKernels<Real> kTable{read_complex<Real>, read_real<Real>, standard_errors<Real>};

}  // namespace

const FlatRecoverKernels<float>& flat_recover_table_float() noexcept { return kTable<float>; }
const FlatRecoverKernels<double>& flat_recover_table_double() noexcept { return kTable<double>; }

}  // namespace sfft::detail::cpu::SFFT_ISA
