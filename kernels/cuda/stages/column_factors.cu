// SPDX-License-Identifier: Apache-2.0
// Computes every angle in double precision, which is still far faster than the bus.
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/columns.hpp"

namespace sfft::detail::cuda {

namespace {

template <class Real>
__device__ Complex<Real> multiplied(const Complex<Real>& value, const ColumnFactors& factors,
                                    std::int64_t row, std::int64_t column) {
  if (factors.length == 0)  // the parts may be samples of a real signal
    return {static_cast<Real>(value.re * factors.scale), static_cast<Real>(value.im * factors.scale)};
  const bool mirrors = factors.mirrored_width > 0 && 2 * column >= factors.columns;
  const std::int64_t first =
      mirrors ? factors.mirrored_width - factors.first_column - factors.columns + 1 : factors.first_column;
  const std::int64_t line = (first + column) / factors.element;
  const double turns = static_cast<double>(row * line) / static_cast<double>(factors.length);
  double re = 0, im = 0;
  sincospi(factors.inverse ? 2 * turns : -2 * turns, &im, &re);
  re *= factors.scale;
  im *= factors.scale;
  return {static_cast<Real>(value.re * re - value.im * im), static_cast<Real>(value.re * im + value.im * re)};
}

template <class Real>
__global__ void multiply_kernel(Complex<Real>* values, const ColumnFactors factors) {
  const std::int64_t total = factors.rows * factors.columns;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < total;
       i += step) {
    const std::int64_t row = i / factors.columns;
    values[i] = multiplied(values[i], factors, row, i - row * factors.columns);
  }
}

constexpr int kTile = 32, kTileRows = kThreads / kTile;

/// Each block transposes one tile of 32 × 32 values.
template <class Real>
__global__ void multiply_transposed_kernel(const Complex<Real>* __restrict__ values,
                                           const ColumnFactors factors, Complex<Real>* __restrict__ to) {
  __shared__ Complex<Real> tile[kTile][kTile + 1];
  const int x = static_cast<int>(threadIdx.x) % kTile, y = static_cast<int>(threadIdx.x) / kTile;
  const std::int64_t across = (factors.columns + kTile - 1) / kTile,
                     tiles = (factors.rows + kTile - 1) / kTile * across;
  for (std::int64_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    const std::int64_t row = t / across * kTile, column = t % across * kTile;
    for (int i = y; i < kTile; i += kTileRows) {
      if (row + i < factors.rows && column + x < factors.columns)
        tile[i][x] =
            multiplied(values[(row + i) * factors.columns + column + x], factors, row + i, column + x);
    }
    __syncthreads();
    for (int i = y; i < kTile; i += kTileRows) {
      if (column + i < factors.columns && row + x < factors.rows)
        to[(column + i) * factors.rows + row + x] = tile[x][i];
    }
    __syncthreads();
  }
}

}  // namespace

template <class Real>
void launch_multiply(Complex<Real>* values, const ColumnFactors& factors, Stream stream) {
  const unsigned blocks = strided_blocks(factors.rows * factors.columns);
  multiply_kernel<<<blocks, kThreads, 0, stream>>>(values, factors);
  check_launch("multiply");
}

template <class Real>
void launch_multiply_transposed(const Complex<Real>* values, const ColumnFactors& factors, Complex<Real>* to,
                                Stream stream) {
  multiply_transposed_kernel<<<strided_blocks(factors.rows * factors.columns), kThreads, 0, stream>>>(
      values, factors, to);
  check_launch("multiply and transpose");
}

template void launch_multiply(Complex<float>*, const ColumnFactors&, Stream);
template void launch_multiply(Complex<double>*, const ColumnFactors&, Stream);
template void launch_multiply_transposed(const Complex<float>*, const ColumnFactors&, Complex<float>*,
                                         Stream);
template void launch_multiply_transposed(const Complex<double>*, const ColumnFactors&, Complex<double>*,
                                         Stream);

}  // namespace sfft::detail::cuda
