// SPDX-License-Identifier: Apache-2.0
// Every sum consists of several independent chains with a fixed order of additions, so that it vectorises and
// hides latency.
#include "kernels/cpu/stages/error_kernels.hpp"

#include "kernels/cpu/platform/simd.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

template <class Real>
void witness(const Real* v, const Real* columns, std::int64_t count, Real* residue) {
  using S = Simd<Real>;
  constexpr int kVectors = kWitnessReals / S::kLanes;
  // Independent sums hide the latency of additions; more than about eight
  // vectors of them spill registers.
  constexpr int kChains = kVectors >= 8 ? 1 : 8 / kVectors;
  typename S::Vector sum[kChains][kVectors] = {};
  std::int64_t j = 0;
  for (; j + kChains <= count; j += kChains) {
    for (int c = 0; c < kChains; ++c) {
      const auto value = S::broadcast(v[j + c]);
      for (int i = 0; i < kVectors; ++i)
        sum[c][i] += value * S::load(columns + (j + c) * kWitnessReals + i * S::kLanes);
    }
  }
  for (; j < count; ++j) {
    const auto value = S::broadcast(v[j]);
    for (int i = 0; i < kVectors; ++i)
      sum[0][i] += value * S::load(columns + j * kWitnessReals + i * S::kLanes);
  }
  for (int i = 0; i < kVectors; ++i) {
    auto total = sum[0][i];
    for (int c = 1; c < kChains; ++c) total += sum[c][i];
    S::store(residue + i * S::kLanes, S::load(residue + i * S::kLanes) - total);
  }
}

/// Parallel sums, so that the loop vectorises without reordering a sum.
constexpr int kSums = 16;

template <class Real>
double norm(const Real* v, std::int64_t count) {
  double sum[kSums] = {};
  std::int64_t j = 0;
  for (; j + kSums <= count; j += kSums) {
    for (int i = 0; i < kSums; ++i) {
      const double value = v[j + i];
      sum[i] += value * value;
    }
  }
  double total = 0;
  for (; j < count; ++j) total += double(v[j]) * double(v[j]);
  for (int i = 0; i < kSums; ++i) total += sum[i];
  return total;
}

template <class Real>
double weighted_norm(const Real* values, const Real* weight, std::int64_t k) {
  constexpr int kPairs = kSums / 2;
  double sum[kSums] = {};
  std::int64_t j = 0;
  for (; j + kPairs <= k; j += kPairs) {
    for (int i = 0; i < kSums; ++i) {
      const double value = values[2 * j + i];
      sum[i] += double(weight[j + i / 2]) * (value * value);
    }
  }
  double total = 0;
  for (; j < k; ++j) {
    const double re = values[2 * j], im = values[2 * j + 1];
    total += double(weight[j]) * (re * re + im * im);
  }
  for (int i = 0; i < kSums; ++i) total += sum[i];
  return total;
}

template <class Real>
void standard_errors(double gain_scale, const double* gain, double bias_scale, const double* bias,
                     std::int64_t k, Real* error) {
  for (std::int64_t i = 0; i < k; ++i)
    error[i] = static_cast<Real>(__builtin_sqrt(gain_scale * gain[i] + bias_scale * bias[i]));
}

template <class Real>
void scaled_errors(Real scale, const Real* root_gain, std::int64_t k, Real* error) {
  for (std::int64_t i = 0; i < k; ++i) error[i] = scale * root_gain[i];
}

template <class Real>
constexpr ErrorKernels<Real> kTable{witness<Real>, norm<Real>, weighted_norm<Real>, standard_errors<Real>,
                                    scaled_errors<Real>};

}  // namespace

const ErrorKernels<float>& error_table_float() noexcept {
  return kTable<float>;
}
const ErrorKernels<double>& error_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
