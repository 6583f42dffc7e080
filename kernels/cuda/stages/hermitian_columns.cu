// SPDX-License-Identifier: Apache-2.0
// Each thread handles a value of a column and its mirror.
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/hermitian_columns.hpp"

namespace sfft::detail::cuda {

namespace {

template <class Real>
__global__ void hermitian_columns_kernel(Complex<Real>* spectra, const HalfSpectra shape,
                                         std::int64_t columns) {
  const std::int64_t kept = shape.points / 2 + 1, rows = shape.planes * shape.rows;
  const std::int64_t total = shape.batch * rows * columns;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < total;
       i += step) {
    const std::int64_t column = i % columns * (shape.points / 2), all = i / columns;
    const std::int64_t signal = all / rows, at = all - signal * rows;
    const std::int64_t plane = at / shape.rows, row = at - plane * shape.rows;
    const std::int64_t mirror =
        (plane == 0 ? 0 : shape.planes - plane) * shape.rows + (row == 0 ? 0 : shape.rows - row);
    if (mirror < at) continue;
    Complex<Real>* const values = spectra + signal * rows * kept + column;
    const Complex<Real> a = values[at * kept], b = values[mirror * kept];
    const Real half = Real(0.5), re = half * (a.re + b.re), im = half * (a.im - b.im);
    values[at * kept] = {re, im};
    values[mirror * kept] = {re, -im};
  }
}

}  // namespace

template <class Real>
void launch_hermitian_columns(Complex<Real>* spectra, const HalfSpectra& shape, Stream stream) {
  const std::int64_t columns = shape.points % 2 == 0 ? 2 : 1;
  hermitian_columns_kernel<<<strided_blocks(shape.batch * shape.planes * shape.rows * columns), kThreads, 0,
                             stream>>>(spectra, shape, columns);
  check_launch("Hermitian columns of half spectra");
}

template void launch_hermitian_columns(Complex<float>*, const HalfSpectra&, Stream);
template void launch_hermitian_columns(Complex<double>*, const HalfSpectra&, Stream);

}  // namespace sfft::detail::cuda
