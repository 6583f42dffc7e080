// SPDX-License-Identifier: Apache-2.0
// One block per frame: each warp sums one coefficient at a time over all samples, then the block finishes the
// frame.
#include "kernels/cuda/executors/exact.hpp"

#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/finish.cuh"

namespace sfft::detail::cuda {

namespace {

template <class Real, class T>
__global__ void direct_kernel(const __grid_constant__ Binning<Real> plan, std::int64_t points,
                              const Complex<Real>* twiddles, const __grid_constant__ Batch<Real> batch) {
  extern __shared__ __align__(16) unsigned char direct_parts[];
  __shared__ Sums scratch[32];
  __shared__ FinishMemory<Real> memory;
  auto* parts = reinterpret_cast<Complex<Real>*>(direct_parts);
  const std::int64_t frame = blockIdx.x;
  const T* samples = static_cast<const T*>(batch.frames) + frame * batch.frame_pitch;
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int i = static_cast<int>(threadIdx.x / 32); i < plan.k; i += kThreads / 32) {
    Complex<Real> sum{0, 0};
    for (std::int64_t t = lane; t < points; t += 32) {
      const Complex<Real> w = twiddles[i * points + t];
      Complex<Real> x = read_pair<Real, T>(samples, t, t);
      if (!IsComplex<T>::value) x.im = 0;
      sum.re += x.re * w.re - x.im * w.im;
      sum.im += x.re * w.im + x.im * w.re;
    }
    sum.re = warp_sum(sum.re);
    sum.im = warp_sum(sum.im);
    if (lane == 0) parts[i] = sum;
  }
  __syncthreads();
  BlockFinish<Real> block{};  // the path reads all samples, so there is no witness
  block.sums = scratch;
  block.memory = &memory;
  finish_frame<!IsComplex<T>::value, Real>(
      plan, error_tables(plan), batch, frame, 0, [&](int i) { return parts[i]; }, block);
}

}  // namespace

template <class Real>
void launch_direct(const Binning<Real>& plan, std::int64_t points, const Complex<Real>* twiddles,
                   const Batch<Real>& batch, Stream stream) {
  const std::size_t shared = static_cast<std::size_t>(plan.k) * sizeof(Complex<Real>);
  with_element(batch.type, [&](auto element) {
    direct_kernel<Real, decltype(element)>
        <<<static_cast<unsigned>(batch.count), kThreads, shared, stream>>>(plan, points, twiddles, batch);
  });
  check_launch("direct");
}

template void launch_direct<float>(const Binning<float>&, std::int64_t, const Complex<float>*,
                                   const Batch<float>&, Stream);
template void launch_direct<double>(const Binning<double>&, std::int64_t, const Complex<double>*,
                                    const Batch<double>&, Stream);

}  // namespace sfft::detail::cuda
