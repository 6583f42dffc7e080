#include "kernels/cuda/dense.hpp"

#include "kernels/cuda/finish.cuh"
#include "kernels/cuda/gather.cuh"

namespace sfft::detail::cuda {

namespace {

constexpr int kThreads = 256;

template <class Real, class T>
__global__ void convert_kernel(const __grid_constant__ Batch<Real> batch, std::int64_t points, void* out) {
  for (std::int64_t frame = blockIdx.y; frame < batch.count; frame += gridDim.y) {
    const T* samples = static_cast<const T*>(batch.frames) + frame * batch.frame_pitch;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < points;
         i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
      const Complex<Real> z = read_pair<Real, T>(samples, i, i);
      if constexpr (IsComplex<T>::value) {
        static_cast<Complex<Real>*>(out)[frame * points + i] = z;
      } else {
        static_cast<Real*>(out)[frame * points + i] = z.re;
      }
    }
  }
}

/// Σ|X|² of both halves, a part a block.
template <class Real>
__global__ void energy_kernel(DenseSpectrum<Real> spectrum, int count, double* energies) {
  __shared__ double scratch[32];
  for (std::int64_t frame = blockIdx.y; frame < count; frame += gridDim.y) {
    const Complex<Real>* values = spectrum.values + frame * spectrum.points;
    double sum = 0;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
         i < spectrum.points; i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
      const std::int64_t column = i % spectrum.row_points;
      const bool twice = spectrum.row_extent > 0 && column != 0 && 2 * column != spectrum.row_extent;
      const double square =
          static_cast<double>(values[i].re) * values[i].re + static_cast<double>(values[i].im) * values[i].im;
      sum += twice ? 2 * square : square;
    }
    sum = block_sum(sum, scratch);
    if (threadIdx.x == 0) energies[frame * kEnergyBlocks + blockIdx.x] = sum;
    __syncthreads();
  }
}

template <class Real>
__global__ void pick_kernel(const __grid_constant__ Binning<Real> plan, DenseSpectrum<Real> spectrum,
                            const __grid_constant__ Batch<Real> batch, const double* energies) {
  __shared__ Sums scratch[32];
  __shared__ double total_scratch[32];
  const std::int64_t frame = blockIdx.x;
  const Complex<Real>* values = spectrum.values + frame * spectrum.points;
  const double total = block_sum(
      threadIdx.x < kEnergyBlocks ? energies[frame * kEnergyBlocks + threadIdx.x] : 0.0, total_scratch);
  Sums sums;
  for (int i = static_cast<int>(threadIdx.x); i < plan.k; i += static_cast<int>(blockDim.x)) {
    const DensePick pick = spectrum.picks[i];
    Complex<Real> z = values[pick.at];
    if (pick.conjugate) z.im = -z.im;
    finish_row(plan.k, {plan.gain, plan.bias, plan.flags}, batch, frame, i, z, sums);
    batch.standard_error[frame * plan.k + i] = 0;
    // With f = 0, for what is left of the total.
    const double square = static_cast<double>(z.re) * z.re + static_cast<double>(z.im) * z.im;
    sums.power += (plan.flags[i] & kDistinctConjugate) != 0 ? 2 * square : square;
  }
  sums.over_block(scratch);
  write_account(plan, batch, frame, total > sums.power ? total - sums.power : total - total, sums);
}

}  // namespace

template <class Real>
void launch_convert(const Batch<Real>& batch, std::int64_t points, void* out, Stream stream) {
  const std::int64_t blocks = (points + kThreads - 1) / kThreads;
  const dim3 grid(static_cast<unsigned>(blocks < 1024 ? blocks : 1024),
                  static_cast<unsigned>(batch.count < 65535 ? batch.count : 65535));
  with_element(batch.type, [&](auto element) {
    convert_kernel<Real, decltype(element)><<<grid, kThreads, 0, stream>>>(batch, points, out);
  });
  check_launch("convert");
}

template <class Real>
void launch_pick(const Binning<Real>& plan, const DenseSpectrum<Real>& spectrum, const Batch<Real>& batch,
                 double* energies, Stream stream) {
  const dim3 grid(kEnergyBlocks, static_cast<unsigned>(batch.count < 65535 ? batch.count : 65535));
  energy_kernel<Real><<<grid, kThreads, 0, stream>>>(spectrum, batch.count, energies);
  check_launch("energy");
  pick_kernel<Real>
      <<<static_cast<unsigned>(batch.count), kThreads, 0, stream>>>(plan, spectrum, batch, energies);
  check_launch("pick");
}

#define SFFT_INSTANTIATE(Real)                                                                          \
  template void launch_convert<Real>(const Batch<Real>&, std::int64_t, void*, Stream);                  \
  template void launch_pick<Real>(const Binning<Real>&, const DenseSpectrum<Real>&, const Batch<Real>&, \
                                  double*, Stream);
SFFT_INSTANTIATE(float)
SFFT_INSTANTIATE(double)

}  // namespace sfft::detail::cuda
