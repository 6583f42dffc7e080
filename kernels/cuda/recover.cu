#include "kernels/cuda/recover.hpp"

#include "kernels/cuda/finish.cuh"

namespace sfft::detail::cuda {

namespace {

constexpr int kThreads = 256;

template <bool kReal, class Real>
__device__ __forceinline__ Complex<Real> row_sum(const Binning<Real>& plan, const Complex<Real>* z, int i) {
  Complex<Real> sum{0, 0};
  for (int q = 0; q < plan.row_buckets; ++q) {
    const BucketPair pair = plan.bucket[q * plan.rows + i];
    for (int l = 0; l < plan.lanes; ++l) {
      const unsigned char* weights = plan.alpha + static_cast<std::int64_t>(l) * plan.lane_bytes;
      const auto* alpha = reinterpret_cast<const Complex<Real>*>(weights) + q * plan.rows;
      const Complex<Real>* lane = z + static_cast<std::int64_t>(l) * plan.fft.points;
      const Complex<Real> w = alpha[i], y = lane[pair.at];
      sum.re += w.re * y.re - w.im * y.im;
      sum.im += w.re * y.im + w.im * y.re;
      if constexpr (kReal) {
        const auto* beta = reinterpret_cast<const Complex<Real>*>(weights + plan.lane_beta) + q * plan.rows;
        const Complex<Real> v = beta[i], c = lane[pair.mirror];
        sum.re += v.re * c.re + v.im * c.im;
        sum.im += v.im * c.re - v.re * c.im;
      }
    }
  }
  return sum;
}

template <class Real>
__device__ __forceinline__ ErrorTables<Real> error_tables(const Binning<Real>& plan) {
  return {plan.gain, plan.bias, plan.flags};
}

template <bool kReal, class Real>
__global__ void recover_kernel(const __grid_constant__ Binning<Real> plan,
                               const __grid_constant__ Batch<Real> batch, const Complex<Real>* all,
                               RecoverPartial* partials) {
  __shared__ Sums scratch[32];
  const int first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int step = static_cast<int>(gridDim.x * blockDim.x);
  for (std::int64_t frame = blockIdx.y; frame < batch.count; frame += gridDim.y) {
    const Complex<Real>* z = all + frame * plan.lanes * plan.fft.points;
    Sums sums;
    for (int i = first; i < plan.rows; i += step)
      finish_row(plan.k, error_tables(plan), batch, frame, i, row_sum<kReal>(plan, z, i), sums);
    if (plan.power_weight != nullptr) {
      for (int b = first; b < plan.fft.points; b += step) {
        Real square = 0;
        for (int l = 0; l < plan.lanes; ++l) {
          const Complex<Real> y = z[static_cast<std::int64_t>(l) * plan.fft.points + b];
          square += y.re * y.re + y.im * y.im;
        }
        sums.power += static_cast<double>(plan.power_weight[b] * square);
      }
    }
    sums.over_block(scratch);
    if (threadIdx.x == 0)
      partials[frame * kMaxRecoverBlocks + blockIdx.x] = {sums.power, sums.norm, sums.held};
    __syncthreads();
  }
}

template <class Real>
__global__ void finish_kernel(const __grid_constant__ Binning<Real> plan,
                              const __grid_constant__ Batch<Real> batch, const RecoverPartial* partials) {
  __shared__ Sums scratch[32];
  for (std::int64_t frame = blockIdx.y; frame < batch.count; frame += gridDim.y) {
    Sums sums;
    if (threadIdx.x < gridDim.x) {
      const RecoverPartial own = partials[frame * kMaxRecoverBlocks + threadIdx.x];
      sums = {own.power, own.norm, own.held};
    }
    sums.over_block(scratch);
    const double scale = sums.power * plan.power_unit;
    for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < plan.k;
         i += static_cast<int>(gridDim.x * blockDim.x)) {
      write_error(plan.k, error_tables(plan), batch, frame, i, scale);
    }
    if (blockIdx.x == 0) write_account(plan, batch, frame, scale, sums);
    __syncthreads();
  }
}

}  // namespace

template <class Real>
void launch_recover(const Binning<Real>& plan, const Batch<Real>& batch, const Complex<Real>* z,
                    RecoverPartial* partials, Stream stream) {
  const int work = plan.rows > plan.points() / 4 ? plan.rows : plan.points() / 4;
  const int wanted = (work + kThreads - 1) / kThreads;
  const int blocks = wanted < 1 ? 1 : wanted > kMaxRecoverBlocks ? kMaxRecoverBlocks : wanted;
  const dim3 grid(static_cast<unsigned>(blocks),
                  static_cast<unsigned>(batch.count < 65535 ? batch.count : 65535));
  if (plan.real) {
    recover_kernel<true, Real><<<grid, kThreads, 0, stream>>>(plan, batch, z, partials);
  } else {
    recover_kernel<false, Real><<<grid, kThreads, 0, stream>>>(plan, batch, z, partials);
  }
  check_launch("recover");
  finish_kernel<Real><<<grid, kThreads, 0, stream>>>(plan, batch, partials);
  check_launch("recover (errors)");
}

#define SFFT_INSTANTIATE(Real)                                                                       \
  template void launch_recover<Real>(const Binning<Real>&, const Batch<Real>&, const Complex<Real>*, \
                                     RecoverPartial*, Stream);
SFFT_INSTANTIATE(float)
SFFT_INSTANTIATE(double)

}  // namespace sfft::detail::cuda
