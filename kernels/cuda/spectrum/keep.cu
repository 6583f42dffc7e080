// SPDX-License-Identifier: Apache-2.0
// One strided kernel applies the output hook of generated transforms (keep.cuh)
// to spectra already in memory.
#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/spectrum/keep.cuh"
#include "kernels/cuda/spectrum/keep.hpp"

namespace sfft::detail::cuda {

namespace {

template <device::Keep kKeep, class Real>
__global__ void keep_kernel(const Complex<Real>* spectra, std::int64_t total, std::int64_t spectrum,
                            const __grid_constant__ device::KeptPart part) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < total;
       i += step) {
    const Complex<Real> x = spectra[i];
    device::keep<kKeep, Complex<Real>>(part, i, spectrum, x.re, x.im);
  }
}

}  // namespace

template <class Real>
void launch_keep(device::Keep keep, const std::complex<Real>* spectra, std::int64_t total,
                 std::int64_t spectrum, const device::KeptPart& part, Stream stream) {
  const auto* values = reinterpret_cast<const Complex<Real>*>(spectra);
  const unsigned blocks = strided_blocks(total);
  if (keep == device::Keep::above) {
    keep_kernel<device::Keep::above><<<blocks, kThreads, 0, stream>>>(values, total, spectrum, part);
  } else {
    keep_kernel<device::Keep::at><<<blocks, kThreads, 0, stream>>>(values, total, spectrum, part);
  }
  check_launch("keeping part of a spectrum");
}

template void launch_keep(device::Keep, const std::complex<float>*, std::int64_t, std::int64_t,
                          const device::KeptPart&, Stream);
template void launch_keep(device::Keep, const std::complex<double>*, std::int64_t, std::int64_t,
                          const device::KeptPart&, Stream);

}  // namespace sfft::detail::cuda
