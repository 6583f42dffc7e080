// SPDX-License-Identifier: Apache-2.0
// Two launches: blocks pick coefficients and sum their part of a spectrum, then one block per frame adds up
// the parts.
#include "kernels/cuda/executors/exact.hpp"

#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/finish.cuh"

namespace sfft::detail::cuda {

namespace {

template <class Real>
__device__ double power(const Complex<Real>& z) {
  return static_cast<double>(z.re) * z.re + static_cast<double>(z.im) * z.im;
}

/// One thread's part of Σ|X|² over both halves of a spectrum. For a real frame, every element counts twice,
/// except in the columns that are their own conjugates.
template <class Real>
__device__ double sum_powers(const DenseSpectrum<Real>& spectrum, const Complex<Real>* values,
                             std::int64_t first, std::int64_t step) {
  constexpr int kAhead = 4;  // loads in flight
  double total = 0;
  for (std::int64_t i = first; i < spectrum.points; i += kAhead * step) {
    Complex<Real> z[kAhead] = {};
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      if (i + j * step < spectrum.points) z[j] = values[i + j * step];
    }
#pragma unroll
    for (int j = 0; j < kAhead; ++j) total += power(z[j]);
  }
  if (spectrum.row_extent == 0) return total;
  double single = 0;
  for (std::int64_t i = first * spectrum.row_points; i < spectrum.points; i += step * spectrum.row_points) {
    single += power(values[i]);
    if (spectrum.row_extent % 2 == 0) single += power(values[i + spectrum.row_points - 1]);
  }
  return 2 * total - single;
}

/// Picks the template's coefficients and sums Σ|X|² over both halves; each block takes a part of every
/// spectrum.
template <class Real>
__global__ void pick_kernel(const __grid_constant__ Binning<Real> plan, DenseSpectrum<Real> spectrum,
                            const __grid_constant__ Batch<Real> batch, DensePartial* partials) {
  __shared__ Sums scratch[32];
  __shared__ double total_scratch[32];
  const auto first = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t frame = blockIdx.y; frame < batch.count; frame += gridDim.y) {
    const Complex<Real>* values = spectrum.values + frame * spectrum.points;
    double total = sum_powers(spectrum, values, first, step);
    Sums sums;
    for (std::int64_t i = first; i < plan.k; i += step) {
      const DensePick pick = spectrum.picks[i];
      Complex<Real> z = values[pick.at];
      if (pick.conjugate) z.im = -z.im;
      const int row = static_cast<int>(i);
      finish_row(plan.k, error_tables(plan), batch, row, z, known_value(plan.k, batch, row), sums,
                 store_at(plan.k, batch, frame, row));
      batch.standard_error[frame * plan.k + i] = 0;
      // The sum includes f = 0, because it is subtracted from the total.
      sums.power += (plan.flags[i] & kDistinctConjugate) != 0 ? 2 * power(z) : power(z);
    }
    total = block_sum(total, total_scratch);
    sums.over_block(scratch);
    if (threadIdx.x == 0)
      partials[frame * kDenseBlocks + blockIdx.x] = {total, sums.power, sums.norm, sums.held};
    __syncthreads();
  }
}

template <class Real>
__global__ void error_kernel(const __grid_constant__ Binning<Real> plan,
                             const __grid_constant__ Batch<Real> batch, const DensePartial* partials) {
  __shared__ Sums scratch[32];
  __shared__ double total_scratch[32];
  const std::int64_t frame = blockIdx.x;
  DensePartial own{};
  if (threadIdx.x < kDenseBlocks) own = partials[frame * kDenseBlocks + threadIdx.x];
  const double total = block_sum(own.total, total_scratch);
  Sums sums{own.picked, own.held, own.norm, 0};
  sums.over_block(scratch);
  if (threadIdx.x >= 32) return;
  ErrorSums found;
  found.scale = total > sums.power ? total - sums.power : total - total;
  found.norm = sums.norm;
  found.held = sums.held;
  found.finite = found.scale - found.scale == 0;
  write_errors<Real>(batch, frame, ratios_of(plan, found));
}

}  // namespace

template <class Real>
void launch_pick(const Binning<Real>& plan, const DenseSpectrum<Real>& spectrum, const Batch<Real>& batch,
                 DensePartial* partials, Stream stream) {
  const dim3 grid(kDenseBlocks, static_cast<unsigned>(batch.count < 65535 ? batch.count : 65535));
  pick_kernel<Real><<<grid, kThreads, 0, stream>>>(plan, spectrum, batch, partials);
  check_launch("pick");
  error_kernel<Real><<<static_cast<unsigned>(batch.count), kThreads, 0, stream>>>(plan, batch, partials);
  check_launch("errors");
}

#define SFFT_INSTANTIATE(Real)                                                                          \
  template void launch_pick<Real>(const Binning<Real>&, const DenseSpectrum<Real>&, const Batch<Real>&, \
                                  DensePartial*, Stream);
SFFT_INSTANTIATE(float)
SFFT_INSTANTIATE(double)

}  // namespace sfft::detail::cuda
