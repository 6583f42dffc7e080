#include "kernels/cpu/bucket_power.hpp"
#include "kernels/cpu/simd.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

template <class Real, int kLanes>
void add_fixed(const Real* __restrict re, const Real* __restrict im, std::int64_t buckets,
               std::int64_t runtime_lanes, Real* __restrict power) {
  const std::int64_t lanes = kLanes > 0 ? kLanes : runtime_lanes;
  // Sixteen buckets side by side: the sums over lanes then run along vectors of buckets.
  constexpr std::int64_t kBlock = 16;
  std::int64_t b = 0;
  for (; b + kBlock <= buckets; b += kBlock) {
    Real sum[kBlock] = {};
    for (std::int64_t l = 0; l < lanes; ++l) {
      for (std::int64_t i = 0; i < kBlock; ++i) {
        const Real x = re[(b + i) * lanes + l];
        const Real y = im[(b + i) * lanes + l];
        sum[i] += x * x + y * y;
      }
    }
    for (std::int64_t i = 0; i < kBlock; ++i) power[b + i] += sum[i];
  }
  for (; b < buckets; ++b) {
    Real sum = 0;
    for (std::int64_t l = 0; l < lanes; ++l)
      sum += re[b * lanes + l] * re[b * lanes + l] + im[b * lanes + l] * im[b * lanes + l];
    power[b] += sum;
  }
}

template <class Real>
void add_power(const Real* re, const Real* im, std::int64_t buckets, std::int64_t lanes, Real* power) {
  switch (lanes) {
    case 4:
      return add_fixed<Real, 4>(re, im, buckets, lanes, power);
    case 8:
      return add_fixed<Real, 8>(re, im, buckets, lanes, power);
    case 16:
      return add_fixed<Real, 16>(re, im, buckets, lanes, power);
    default:
      return add_fixed<Real, 0>(re, im, buckets, lanes, power);
  }
}

template <class Real>
constexpr BucketPowerKernels<Real> kTable{add_power<Real>};

}  // namespace

const BucketPowerKernels<float>& bucket_power_table_float() noexcept {
  return kTable<float>;
}
const BucketPowerKernels<double>& bucket_power_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
