// SPDX-License-Identifier: Apache-2.0
// Products with vectors use four sums, each over every fourth row, because a single sum would be one long
// dependency chain. Filters keep the sums of a few values in registers.
#include "kernels/cpu/platform/simd.hpp"
#include "kernels/cpu/stages/matrix_product.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

template <class Real>
void product(const Real* x, std::int64_t rows, const Real* matrix, std::int64_t width, Real scale, Real* to) {
  using Ops = Simd<Real>;
  using Vector = typename Ops::Vector;
  for (std::int64_t j = 0; j < width; j += Ops::kLanes) {
    Vector sums[kMatrixRows] = {};
    for (std::int64_t i = 0; i < rows; i += kMatrixRows) {
      const Real* const row = matrix + i * width + j;
      for (int r = 0; r < kMatrixRows; ++r) sums[r] += Ops::load(row + r * width) * x[i + r];
    }
    Ops::store(to + j, ((sums[0] + sums[1]) + (sums[2] + sums[3])) * scale);
  }
}

/// `kTile` values of two filters. Short partial sums keep rounding errors small.
template <class Real, int kTile>
void filter_tile(const Real* x, std::int64_t stride, const Real* filters, std::int64_t length, Real* to) {
  using Ops = Simd<Real>;
  using Vector = typename Ops::Vector;
  constexpr std::int64_t kPartial = 64 * Ops::kLanes;
  Vector totals[2 * kTile] = {};
  for (std::int64_t first = 0; first < length; first += kPartial) {
    Vector sums[2 * kTile] = {};
    const std::int64_t end = length < first + kPartial ? length : first + kPartial;
    // What the tile after the next one adds to this one's samples. Processors begin to fetch too late.
    for (std::int64_t i = first; i < first + kPartial && i < kTile * stride; i += 64 / sizeof(Real))
      __builtin_prefetch(x + length + kTile * stride + i);
    for (std::int64_t i = first; i < end; i += Ops::kLanes) {
      const Vector one = Ops::load(filters + i), other = Ops::load(filters + length + i);
      for (int m = 0; m < kTile; ++m) {
        const Vector value = Ops::load(x + m * stride + i);
        sums[2 * m] += value * one;
        sums[2 * m + 1] += value * other;
      }
    }
    for (int s = 0; s < 2 * kTile; ++s) totals[s] += sums[s];
  }
  for (int s = 0; s < 2 * kTile; ++s) {
    Real sum = 0;
    for (int l = 0; l < Ops::kLanes; ++l) sum += totals[s][l];
    to[s] = sum;
  }
}

template <class Real>
void decimate(const Real* x, std::int64_t values, std::int64_t stride, const Real* filters,
              std::int64_t length, Real* to) {
  constexpr int kTile = 4;
  std::int64_t m = 0;
  for (; m + kTile <= values; m += kTile)
    filter_tile<Real, kTile>(x + m * stride, stride, filters, length, to + 2 * m);
  for (; m < values; ++m) filter_tile<Real, 1>(x + m * stride, stride, filters, length, to + 2 * m);
}

template <class Real>
void multiply(const Real* __restrict factors, std::int64_t count, Real* __restrict values) {
  for (std::int64_t i = 0; i < 2 * count; i += 2) {
    const Real re = values[i], im = values[i + 1];
    values[i] = re * factors[i] - im * factors[i + 1];
    values[i + 1] = re * factors[i + 1] + im * factors[i];
  }
}

template <class Real>
constexpr MatrixKernels<Real> kTable{product<Real>, decimate<Real>, multiply<Real>};

}  // namespace

const MatrixKernels<float>& matrix_table_float() noexcept {
  return kTable<float>;
}
const MatrixKernels<double>& matrix_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
