// SPDX-License-Identifier: Apache-2.0
// The batch is axis 0 and the dimensions are the last axes, so that all ranks share one form.
#include "kernels/dense/gpu/grid.hpp"

#include "kernels/cuda/stages/hermitian_columns.hpp"

namespace sfft::detail {

cuda::CopyGrid signal_grid(const DenseProblem& problem, Side from, Side to, std::int64_t row_points) {
  cuda::CopyGrid grid;
  const int rank = problem.shape.rank();
  std::int64_t packed = 1;
  // Axis 0 is the batch; the dimensions come last.
  for (int d = rank; d >= 0; --d) {
    const int axis = d == 0 ? 0 : cuda::CopyGrid::kAxes - 1 - (rank - d);
    const std::int64_t extent = d == 0 ? problem.batch : problem.shape[d - 1];
    const std::int64_t strided =
        d == 0 ? problem.strides.batch : problem.strides.dims[static_cast<std::size_t>(d - 1)];
    grid.extents[axis] = extent;
    grid.from[axis] = from == Side::strided ? strided : packed;
    grid.to[axis] = to == Side::strided ? strided : packed;
    packed *= d == rank ? row_points : extent;
  }
  return grid;
}

template <class Real>
void make_hermitian(const DenseProblem& problem, std::complex<Real>* spectra, cuda::Stream stream) {
  const int rank = problem.shape.rank();
  const cuda::HalfSpectra shape{.batch = problem.batch,
                                .planes = rank > 2 ? problem.shape[0] : 1,
                                .rows = rank > 1 ? problem.shape[rank - 2] : 1,
                                .points = problem.row_points()};
  cuda::launch_hermitian_columns(reinterpret_cast<cuda::Complex<Real>*>(spectra), shape, stream);
}

template void make_hermitian(const DenseProblem&, std::complex<float>*, cuda::Stream);
template void make_hermitian(const DenseProblem&, std::complex<double>*, cuda::Stream);

}  // namespace sfft::detail
