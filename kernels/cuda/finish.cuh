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

/// Σ values, in pairs: shorter chains than one after the other. Overwrites them.
template <int kCount, class T>
__device__ __forceinline__ T tree_sum(T (&values)[kCount]) {
#pragma unroll
  for (int step = 1; step < kCount; step *= 2) {
#pragma unroll
    for (int i = 0; i + step < kCount; i += 2 * step) values[i] = values[i] + values[i + step];
  }
  return values[0];
}

/// Sums over the block, in every thread; `scratch` holds 32 Sums in shared memory. The order is fixed, so
/// they repeat bit by bit.
struct Sums {
  double power = 0;  ///< of the tail, in the plan's unit
  double norm = 0;   ///< Σ|X̂|² without f = 0
  double held = 0;   ///< the same with both halves of a real spectrum

  __device__ __forceinline__ void over_warp() {
    power = warp_sum(power);
    norm = warp_sum(norm);
    held = warp_sum(held);
  }
  /// Writes the warp's sums to *out. A multiprocessor shuffles one warp's word a cycle, so lanes share the
  /// work: two sums are halved in one exchange, 12 words in place of 30.
  __device__ __forceinline__ void over_warp_to(Sums* out) const {
    const unsigned lane = threadIdx.x % 32;
    const bool high = (lane & 16U) != 0, odd = (lane & 8U) != 0;
    double first = (high ? norm : power) + exchanged(high ? power : norm, 16);
    const double second = held + exchanged(held, 16);
    double sum = (odd ? second : first) + exchanged(odd ? first : second, 8);
#pragma unroll
    for (int step = 4; step > 0; step /= 2) sum += exchanged(sum, step);
    if (lane == 0) out->power = sum;
    if (lane == 8) out->held = sum;
    if (lane == 16) out->norm = sum;
  }
  __device__ __forceinline__ void over_block(Sums* scratch) {
    if (blockDim.x == 32) return over_warp();
    over_warp_to(scratch + threadIdx.x / 32);
    __syncthreads();
    constexpr int kFew = 4;
    if (blockDim.x <= 32 * kFew) {
      double values[3][kFew];
#pragma unroll
      for (int w = 0; w < kFew; ++w) {
        const Sums one = 32 * w < static_cast<int>(blockDim.x) ? scratch[w] : Sums{};
        values[0][w] = one.power;
        values[1][w] = one.norm;
        values[2][w] = one.held;
      }
      power = tree_sum<kFew>(values[0]);
      norm = tree_sum<kFew>(values[1]);
      held = tree_sum<kFew>(values[2]);
      return;
    }
    if (threadIdx.x < 32) {
      *this = threadIdx.x < blockDim.x / 32 ? scratch[threadIdx.x] : Sums{};
      __syncwarp();
      over_warp_to(scratch);
    }
    __syncthreads();
    *this = scratch[0];
  }

 private:
  static __device__ __forceinline__ double exchanged(double value, int step) {
    return __shfl_xor_sync(0xffffffffU, value, step);
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

/// What the end of a row needs to know of its coefficient; the tables begin at coefficient `first`.
template <class Real>
struct ErrorTables {
  const Real* gain;
  const Real* bias;
  const std::uint8_t* flags;
  int first = 0;
};

/// Takes row i, whose sum over all lanes is z: writes a coefficient, adds up a probe of the tail.
template <class Real>
__device__ __forceinline__ void finish_row(int k, const ErrorTables<Real>& tables, const Batch<Real>& batch,
                                           std::int64_t frame, int i, Complex<Real> z, Sums& sums) {
  if (i >= k) {
    sums.power += static_cast<double>(z.re) * z.re + static_cast<double>(z.im) * z.im;
    return;
  }
  const int flags = tables.flags[i - tables.first];
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

/// √(numerator/denominator), in float where that is what it is for and holds it: arithmetic in double takes
/// several times as long to give its result.
template <class Real>
__device__ __forceinline__ double root(double numerator, double denominator) {
  if (sizeof(Real) == 4) {
    const float upper = static_cast<float>(numerator), lower = static_cast<float>(denominator);
    const float ratio = upper / lower;
    const float least = fminf(fminf(upper, lower), ratio), most = fmaxf(fmaxf(upper, lower), ratio);
    if (least > 1e-36F && most < 1e36F) return static_cast<double>(sqrtf(ratio));
  }
  return sqrt(numerator / denominator);
}

/// √(scale·gain + bias), as root().
__device__ __forceinline__ float standard_error(double scale, float gain, float bias) {
  const float square = fmaf(static_cast<float>(scale), gain, bias);
  if (square > 1e-30F && square < 1e36F) return sqrtf(square);
  return static_cast<float>(sqrt(scale * static_cast<double>(gain) + static_cast<double>(bias)));
}
__device__ __forceinline__ double standard_error(double scale, double gain, double bias) {
  return sqrt(scale * gain + bias);
}

template <class Real>
__device__ __forceinline__ void write_error(int k, const ErrorTables<Real>& tables, const Batch<Real>& batch,
                                            std::int64_t frame, int i, double scale) {
  batch.standard_error[frame * k + i] =
      standard_error(scale, tables.gain[i - tables.first], tables.bias[i - tables.first]);
}

/// The account of a frame, by the first warp: its lanes take a root each.
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
  const double value = denominator > 0 ? root<Real>(numerator, denominator) : 0;
  DeviceAccount& out = batch.accounts[frame];
  if (threadIdx.x == 0) {
    out.error_l2 = value;
    out.tail_energy = sums.tail;
    out.finite = ratios.finite ? 1 : 0;
  }
  if (threadIdx.x == 1) out.relative_error = value;
  if (threadIdx.x == 2) out.residual = value;
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
