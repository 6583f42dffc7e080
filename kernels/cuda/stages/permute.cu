// SPDX-License-Identifier: Apache-2.0
// One thread per tap of a lane loops over the frames; one block per frame also reads the witness's samples.
#include "kernels/cuda/stages/stages.hpp"

#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/witness.cuh"

namespace sfft::detail::cuda {

namespace {

template <class Real, class T>
__global__ void permute_kernel(const __grid_constant__ Binning<Real> plan,
                               const __grid_constant__ Batch<Real> batch, Complex<Real>* out, Real* witness) {
  const int taps = plan.folds * plan.fft.points;
  const int m = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int lane = static_cast<int>(blockIdx.y);
  const bool reads_witness = blockIdx.x == 0 && lane == 0 && WitnessReader<Real, T>::reads(plan);
  WitnessReader<Real, T> reader(plan);
  if (m >= taps && !reads_witness) return;
  for (std::int64_t frame = blockIdx.z; frame < batch.count; frame += gridDim.z) {
    const T* samples = static_cast<const T*>(batch.frames) + frame * batch.frame_pitch;
    if (reads_witness) {
      reader.load(plan, samples);
      Real x = static_cast<Real>(reader.sample);
      if (batch.reference_witness != nullptr) x -= batch.reference_witness[threadIdx.x];
      witness[frame * kWitnessReals + threadIdx.x] = x;
    }
    if (m >= taps) continue;
    Complex<Real> z;
    if (plan.tap_offsets != nullptr) {
      const FlatSource<Real, T> source{plan, samples, batch.reference_samples};
      const auto row = source.row(lane, 0);
      z = row.reference == nullptr ? source.template tap<false>(row, m) : source.template tap<true>(row, m);
    } else {
      const CombSource<Real, T> source{plan, samples, batch.reference_samples, plan.offsets};
      const int outer = m / plan.row_points;
      const auto row = source.row(lane, outer);
      z = source.fetch(row, m - outer * plan.row_points);
      source.settle(row, m - outer * plan.row_points, z);
    }
    out[(frame * plan.lanes + lane) * taps + m] = z;
  }
}

}  // namespace

template <class Real>
void launch_permute(const Binning<Real>& plan, const Batch<Real>& batch, Complex<Real>* out, Real* witness,
                    Stream stream) {
  const dim3 grid(static_cast<unsigned>((plan.taps() + kThreads - 1) / kThreads),
                  static_cast<unsigned>(plan.lanes),
                  static_cast<unsigned>(batch.count < 65535 ? batch.count : 65535));
  with_element(batch.type, [&](auto element) {
    permute_kernel<Real, decltype(element)><<<grid, kThreads, 0, stream>>>(plan, batch, out, witness);
  });
  check_launch("permute");
}

template void launch_permute<float>(const Binning<float>&, const Batch<float>&, Complex<float>*, float*,
                                    Stream);
template void launch_permute<double>(const Binning<double>&, const Batch<double>&, Complex<double>*, double*,
                                     Stream);

}  // namespace sfft::detail::cuda
