// SPDX-License-Identifier: Apache-2.0
// Angles are computed in double for every value: the bus is far slower than that.
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/column_factors.hpp"

namespace sfft::detail::cuda {

namespace {

template <class Real>
__global__ void multiply_kernel(Complex<Real>* values, const ColumnFactors factors) {
  const std::int64_t total = factors.rows * factors.columns;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < total;
       i += step) {
    double re = factors.scale, im = 0;
    if (factors.length > 0) {
      const std::int64_t row = i / factors.columns;
      const std::int64_t line = (factors.first_column + (i - row * factors.columns)) / factors.element;
      const double turns = static_cast<double>(row * line) / static_cast<double>(factors.length);
      sincospi(factors.inverse ? 2 * turns : -2 * turns, &im, &re);
      re *= factors.scale;
      im *= factors.scale;
    }
    const Complex<Real> value = values[i];
    values[i] = {static_cast<Real>(value.re * re - value.im * im),
                 static_cast<Real>(value.re * im + value.im * re)};
  }
}

}  // namespace

template <class Real>
void launch_multiply(Complex<Real>* values, const ColumnFactors& factors, Stream stream) {
  const unsigned blocks = strided_blocks(factors.rows * factors.columns);
  multiply_kernel<<<blocks, kThreads, 0, stream>>>(values, factors);
  check_launch("multiply");
}

template void launch_multiply(Complex<float>*, const ColumnFactors&, Stream);
template void launch_multiply(Complex<double>*, const ColumnFactors&, Stream);

}  // namespace sfft::detail::cuda
