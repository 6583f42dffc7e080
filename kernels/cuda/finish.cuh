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

/// Sums over the block, in every thread; `scratch` holds 32 Sums in shared memory. The order is fixed, so
/// they repeat bit by bit.
struct Sums {
  double power = 0;  ///< of the tail, in the plan's unit
  double norm = 0;   ///< Σ|X̂|² without f = 0
  double held = 0;   ///< the same with both halves of a real spectrum

  __device__ __forceinline__ void over_warp() {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      power += __shfl_xor_sync(0xffffffffU, power, step);
      norm += __shfl_xor_sync(0xffffffffU, norm, step);
      held += __shfl_xor_sync(0xffffffffU, held, step);
    }
  }
  __device__ __forceinline__ void over_block(Sums* scratch) {
    over_warp();
    if (blockDim.x == 32) return;
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = *this;
    __syncthreads();
    *this = threadIdx.x % 32 < blockDim.x / 32 ? scratch[threadIdx.x % 32] : Sums{};
    over_warp();
  }
};

template <class T>
__device__ __forceinline__ T block_sum(T value, T* scratch) {
  value = warp_sum(value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? scratch[threadIdx.x % 32] : T(0));
}

/// What the end of a row needs to know of its coefficient.
template <class Real>
struct ErrorTables {
  const Real* gain;
  const Real* bias;
  const std::uint8_t* flags;
};

/// Takes row i, whose sum over all lanes is z: writes a coefficient, adds up a probe of the tail.
template <class Real>
__device__ __forceinline__ void finish_row(int k, const ErrorTables<Real>& tables, const Batch<Real>& batch,
                                           std::int64_t frame, int i, Complex<Real> z, Sums& sums) {
  if (i >= k) {
    sums.power += static_cast<double>(z.re) * z.re + static_cast<double>(z.im) * z.im;
    return;
  }
  const int flags = tables.flags[i];
  if ((flags & kRealValue) != 0) z.im *= 0;  // and stays NaN when it is
  if (batch.reference_values != nullptr) {
    const Complex<Real> known = batch.reference_values[i];
    z.re += known.re;
    z.im += known.im;
  }
  batch.values[frame * k + i] = z;
  const double square = static_cast<double>(z.re) * z.re + static_cast<double>(z.im) * z.im;
  const double counted = (flags & kMean) != 0 ? 0 * square : square;  // a NaN must show
  sums.norm += counted;
  sums.held += (flags & kDistinctConjugate) != 0 ? 2 * counted : counted;
}

template <class Real>
__device__ __forceinline__ void write_error(int k, const ErrorTables<Real>& tables, const Batch<Real>& batch,
                                            std::int64_t frame, int i, double scale) {
  const double square = scale * static_cast<double>(tables.gain[i]) + static_cast<double>(tables.bias[i]);
  Real error;
  if (sizeof(Real) == 4 && square < 1e37 && (square > 1e-37 || square == 0)) {
    error = sqrtf(static_cast<float>(square));
  } else {
    error = static_cast<Real>(sqrt(square));
  }
  batch.standard_error[frame * k + i] = error;
}

/// The account of a frame, by the first warp: its lanes take a root each, as roots of doubles are slow.
template <class Real, template <class> class Plan>
__device__ __forceinline__ void write_account(const Plan<Real>& plan, const Batch<Real>& batch,
                                              std::int64_t frame, double scale, const Sums& values) {
  if (threadIdx.x >= 32) return;
  constexpr double kEpsilon = sizeof(Real) == 4 ? 1.1920928955078125e-07 : 2.220446049250313e-16;
  AccountSums sums;
  sums.error = scale * plan.gain_sum + plan.bias_sum;
  sums.norm = values.norm;
  sums.held = values.held;
  sums.tail = scale * plan.tail_per_scale;
  sums.finite = scale - scale == 0;
  const Ratios ratios = account_ratios(sums, kEpsilon);
  const double numerator = threadIdx.x == 2 ? ratios.tail : ratios.error;
  const double denominator = threadIdx.x == 0 ? 1 : threadIdx.x == 1 ? ratios.norm : ratios.total;
  const double root = denominator > 0 ? sqrt(numerator / denominator) : 0;
  DeviceAccount& out = batch.accounts[frame];
  if (threadIdx.x == 0) {
    out.error_l2 = root;
    out.tail_energy = sums.tail;
    out.finite = ratios.finite ? 1 : 0;
  }
  if (threadIdx.x == 1) out.relative_error = root;
  if (threadIdx.x == 2) out.residual = root;
}

/// The end of a frame by one block: `part(i)` is the sum of row i over all lanes, `power` this thread's part
/// of the weighted power of a comb.
template <class Real, class Part>
__device__ __forceinline__ void finish_frame(const Binning<Real>& plan, const ErrorTables<Real>& tables,
                                             const Batch<Real>& batch, std::int64_t frame, double power,
                                             const Part& part, Sums* scratch) {
  Sums sums;
  sums.power = power;
  for (int i = threadIdx.x; i < plan.rows; i += blockDim.x)
    finish_row(plan.k, tables, batch, frame, i, part(i), sums);
  sums.over_block(scratch);
  const double scale = sums.power * plan.power_unit;
  for (int i = threadIdx.x; i < plan.k; i += blockDim.x) write_error(plan.k, tables, batch, frame, i, scale);
  write_account(plan, batch, frame, scale, sums);
}

}  // namespace sfft::detail::cuda
