// SPDX-License-Identifier: Apache-2.0
// Each coefficient is a dot product over the lanes of its bucket, unrolled for up to eight lanes.
#include "kernels/cpu/platform/simd.hpp"
#include "kernels/cpu/stages/recover.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

template <class Real, int kLanes>
void recover_complex(const Real* re, const Real* im, std::int64_t runtime_lanes, const std::int32_t* bucket,
                     const Real* weights, std::int64_t k, Real* values) {
  const std::int64_t lanes = kLanes > 0 ? kLanes : runtime_lanes;
  for (std::int64_t i = 0; i < k; ++i, weights += 2 * lanes) {
    const Real* zr = re + bucket[i] * lanes;
    const Real* zi = im + bucket[i] * lanes;
    Real sum_re = 0, sum_im = 0;
    for (std::int64_t l = 0; l < lanes; ++l) {
      sum_re += weights[l] * zr[l] - weights[lanes + l] * zi[l];
      sum_im += weights[l] * zi[l] + weights[lanes + l] * zr[l];
    }
    values[2 * i] = sum_re;
    values[2 * i + 1] = sum_im;
  }
}

template <class Real, int kLanes>
void recover_real(const Real* re, const Real* im, std::int64_t runtime_lanes, const std::int32_t* bucket,
                  const std::int32_t* mirror, const Real* weights, std::int64_t k, Real* values) {
  const std::int64_t lanes = kLanes > 0 ? kLanes : runtime_lanes;
  for (std::int64_t i = 0; i < k; ++i, weights += 4 * lanes) {
    const Real* zr = re + bucket[i] * lanes;
    const Real* zi = im + bucket[i] * lanes;
    const Real* mr = re + mirror[i] * lanes;
    const Real* mi = im + mirror[i] * lanes;
    const Real* alpha_im = weights + lanes;
    const Real* beta_re = weights + 2 * lanes;
    const Real* beta_im = weights + 3 * lanes;
    Real sum_re = 0, sum_im = 0;
    for (std::int64_t l = 0; l < lanes; ++l) {
      sum_re += weights[l] * zr[l] - alpha_im[l] * zi[l] + beta_re[l] * mr[l] + beta_im[l] * mi[l];
      sum_im += weights[l] * zi[l] + alpha_im[l] * zr[l] + beta_im[l] * mr[l] - beta_re[l] * mi[l];
    }
    values[2 * i] = sum_re;
    values[2 * i + 1] = sum_im;
  }
}

// One copy per lane count, so that inner loops unroll; larger counts share a loop.
#define SFFT_LANES(call) \
  switch (lanes) {       \
    case 1:              \
      return call(1);    \
    case 2:              \
      return call(2);    \
    case 3:              \
      return call(3);    \
    case 4:              \
      return call(4);    \
    case 5:              \
      return call(5);    \
    case 6:              \
      return call(6);    \
    case 7:              \
      return call(7);    \
    case 8:              \
      return call(8);    \
    default:             \
      return call(0);    \
  }

template <class Real>
void recover_complex_entry(const Real* re, const Real* im, std::int64_t lanes, const std::int32_t* bucket,
                           const Real* weights, std::int64_t k, Real* values) {
#define SFFT_CALL(n) recover_complex<Real, n>(re, im, lanes, bucket, weights, k, values)
  SFFT_LANES(SFFT_CALL)
#undef SFFT_CALL
}

template <class Real>
void recover_real_entry(const Real* re, const Real* im, std::int64_t lanes, const std::int32_t* bucket,
                        const std::int32_t* mirror, const Real* weights, std::int64_t k, Real* values) {
#define SFFT_CALL(n) recover_real<Real, n>(re, im, lanes, bucket, mirror, weights, k, values)
  SFFT_LANES(SFFT_CALL)
#undef SFFT_CALL
}

template <class Real>
double weighted_power(const Real* re, const Real* im, const Real* weight, std::int64_t count) {
  using S = Simd<Real>;
  typename S::Vector sum0{}, sum1{};
  std::int64_t i = 0;
  for (; i + 2 * S::kLanes <= count; i += 2 * S::kLanes) {
    const auto r0 = S::load(re + i), i0 = S::load(im + i);
    const auto r1 = S::load(re + i + S::kLanes), i1 = S::load(im + i + S::kLanes);
    sum0 += S::load(weight + i) * (r0 * r0 + i0 * i0);
    sum1 += S::load(weight + i + S::kLanes) * (r1 * r1 + i1 * i1);
  }
  sum0 += sum1;
  double total = 0;
  for (int l = 0; l < S::kLanes; ++l) total += static_cast<double>(sum0[l]);
  for (; i < count; ++i)
    total += static_cast<double>(weight[i]) * (double(re[i]) * re[i] + double(im[i]) * im[i]);
  return total;
}

template <class Real>
constexpr RecoverKernels<Real> kTable{recover_complex_entry<Real>, recover_real_entry<Real>,
                                      weighted_power<Real>};

}  // namespace

const RecoverKernels<float>& recover_table_float() noexcept {
  return kTable<float>;
}
const RecoverKernels<double>& recover_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
