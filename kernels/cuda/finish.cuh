// The end of a transform: values, the scale of the tail, standard errors, the account.
#pragma once

#include "kernels/common/account.hpp"
#include "kernels/cuda/binning.hpp"

namespace sfft::detail::cuda {

template <class T>
__device__ __forceinline__ T warp_sum(T value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffU, value, step);
  return value;
}

/// Σ over the block, in every thread; `scratch` holds 32 values in shared memory. The order is fixed, so the
/// sum repeats bit by bit.
template <class T>
__device__ __forceinline__ T block_sum(T value, T* scratch) {
  value = warp_sum(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? scratch[threadIdx.x % 32] : T(0));
}

/// Sums over the coefficients without f = 0, as AccountSums has them.
struct ValueSums {
  double norm = 0, held = 0;
};

/// Writes coefficient i of a frame, whose row summed up to z.
template <class Real>
__device__ __forceinline__ void write_value(const Binning<Real>& plan, const Batch<Real>& batch,
                                            std::int64_t frame, int i, Complex<Real> z, ValueSums& sums) {
  const std::uint8_t flags = plan.flags[i];
  if ((flags & kRealValue) != 0) z.im *= 0;  // and stays NaN when it is
  if (batch.reference_values != nullptr) {
    const Complex<Real> known = batch.reference_values[i];
    z.re += known.re;
    z.im += known.im;
  }
  batch.values[frame * plan.k + i] = z;
  const double square = static_cast<double>(z.re) * z.re + static_cast<double>(z.im) * z.im;
  const double counted = (flags & kMean) != 0 ? 0 * square : square;  // a NaN must show
  sums.norm += counted;
  sums.held += (flags & kDistinctConjugate) != 0 ? 2 * counted : counted;
}

template <class Real>
__device__ __forceinline__ void write_error(const Binning<Real>& plan, const Batch<Real>& batch,
                                            std::int64_t frame, int i, double scale) {
  batch.standard_error[frame * plan.k + i] =
      static_cast<Real>(sqrt(scale * static_cast<double>(plan.gain[i]) + static_cast<double>(plan.bias[i])));
}

template <class Real>
__device__ __forceinline__ void write_account(const Binning<Real>& plan, const Batch<Real>& batch,
                                              std::int64_t frame, double scale, const ValueSums& values) {
  AccountSums sums;
  sums.error = scale * plan.gain_sum + plan.bias_sum;
  sums.norm = values.norm;
  sums.held = values.held;
  sums.tail = scale * plan.tail_per_scale;
  sums.finite = scale - scale == 0;
  constexpr double kEpsilon = sizeof(Real) == 4 ? 1.1920928955078125e-07 : 2.220446049250313e-16;
  const Account account = make_account(sums, kEpsilon);
  batch.accounts[frame] = {account.error_l2, account.relative_error, account.tail_energy, account.residual,
                           account.finite ? 1 : 0};
}

struct FinishScratch {
  double norm[32], held[32], power[32];
};

/// All of it by one block. `part(i)` is the i-th row's sum over all lanes; `power` is this thread's part of
/// the weighted power of a comb.
template <class Real, class Part>
__device__ void finish_frame(const Binning<Real>& plan, const Batch<Real>& batch, std::int64_t frame,
                             double power, const Part& part, FinishScratch& scratch) {
  // Probes of flat windows: their mean square is the tail.
  for (int i = plan.k + threadIdx.x; i < plan.rows; i += blockDim.x) {
    const Complex<Real> z = part(i);
    power += static_cast<double>(z.re) * z.re + static_cast<double>(z.im) * z.im;
  }
  const double scale = block_sum(power, scratch.power) * plan.power_unit;
  ValueSums sums;
  for (int i = threadIdx.x; i < plan.k; i += blockDim.x) {
    write_value(plan, batch, frame, i, part(i), sums);
    write_error(plan, batch, frame, i, scale);
  }
  sums.norm = block_sum(sums.norm, scratch.norm);
  sums.held = block_sum(sums.held, scratch.held);
  if (threadIdx.x == 0) write_account(plan, batch, frame, scale, sums);
}

}  // namespace sfft::detail::cuda
