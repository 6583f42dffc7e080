// SPDX-License-Identifier: Apache-2.0
// Processes sixteen buckets at a time. Four or eight lanes are folded pairwise; other counts use a loop.
#include "kernels/cpu/platform/simd.hpp"
#include "kernels/cpu/stages/bucket_power.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

template <class Real, int kLanes>
void add_fixed(const Real* __restrict re, const Real* __restrict im, std::int64_t buckets,
               std::int64_t runtime_lanes, Real* __restrict power) {
  const std::int64_t lanes = kLanes > 0 ? kLanes : runtime_lanes;
  // Processes sixteen buckets together, so that sums over lanes run along vectors of buckets.
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

/// For four or eight lanes: adds neighbours until one sum per bucket is left, entirely with vectors.
template <class Real, int kLanes>
void add_folded(const Real* __restrict re, const Real* __restrict im, std::int64_t buckets,
                Real* __restrict power) {
  constexpr std::int64_t kBlock = 16;
  constexpr std::int64_t kReals = kBlock * kLanes;
  std::int64_t b = 0;
  for (; b + kBlock <= buckets; b += kBlock, re += kReals, im += kReals) {
    Real each[kReals], pairs[kReals / 2], fours[kReals / 4];
    for (std::int64_t i = 0; i < kReals; ++i) each[i] = re[i] * re[i] + im[i] * im[i];
    for (std::int64_t i = 0; i < kReals / 2; ++i) pairs[i] = each[2 * i] + each[2 * i + 1];
    for (std::int64_t i = 0; i < kReals / 4; ++i) fours[i] = pairs[2 * i] + pairs[2 * i + 1];
    if constexpr (kLanes == 8) {
      for (std::int64_t i = 0; i < kBlock; ++i) power[b + i] += fours[2 * i] + fours[2 * i + 1];
    } else {
      for (std::int64_t i = 0; i < kBlock; ++i) power[b + i] += fours[i];
    }
  }
  add_fixed<Real, kLanes>(re, im, buckets - b, kLanes, power + b);
}

template <class Real>
void add_power(const Real* re, const Real* im, std::int64_t buckets, std::int64_t lanes, Real* power) {
  switch (lanes) {
    case 4:
      return add_folded<Real, 4>(re, im, buckets, power);
    case 8:
      return add_folded<Real, 8>(re, im, buckets, power);
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
