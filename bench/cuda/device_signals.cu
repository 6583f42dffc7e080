// SPDX-License-Identifier: Apache-2.0
// Scatters the coefficients into a zero spectrum in double, transforms it back with cuFFT, and narrows the
// result to float.
#include <cufft.h>

#include <stdexcept>

#include "bench/cuda/device_memory.hpp"
#include "bench/cuda/device_signals.hpp"

namespace sfft::bench {

namespace {

__global__ void scatter(cufftDoubleComplex* spectrum, const std::int64_t* support,
                        const cufftDoubleComplex* values, int k) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < k) spectrum[support[i]] = values[i];
}

__global__ void narrow(const cufftDoubleComplex* in, cufftComplex* out, std::int64_t count, double scale) {
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    out[i] = {static_cast<float>(in[i].x * scale), static_cast<float>(in[i].y * scale)};
  }
}

template <class Sample>
__global__ void widen(const Sample* in, float* out, std::int64_t count) {
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += static_cast<std::int64_t>(gridDim.x) * blockDim.x) {
    out[i] = static_cast<float>(in[i]);
  }
}

}  // namespace

void make_sparse_signal(std::int64_t points, const std::vector<std::int64_t>& support,
                        const std::vector<std::complex<double>>& values, void* out) {
  const DeviceBuffer spectrum(static_cast<std::size_t>(points) * sizeof(cufftDoubleComplex));
  gpu(cudaMemset(spectrum.data(), 0, spectrum.bytes()));
  const DeviceBuffer there = upload(support), values_there = upload(values);
  const int k = static_cast<int>(support.size());
  scatter<<<(k + 127) / 128, 128>>>(spectrum.as<cufftDoubleComplex>(), there.as<std::int64_t>(),
                                    values_there.as<cufftDoubleComplex>(), k);
  cufftHandle handle = 0;
  long long extent = points;
  std::size_t work = 0;
  if (cufftCreate(&handle) != CUFFT_SUCCESS ||
      cufftMakePlanMany64(handle, 1, &extent, nullptr, 1, points, nullptr, 1, points, CUFFT_Z2Z, 1, &work) !=
          CUFFT_SUCCESS ||
      cufftExecZ2Z(handle, spectrum.as<cufftDoubleComplex>(), spectrum.as<cufftDoubleComplex>(),
                   CUFFT_INVERSE) != CUFFT_SUCCESS) {
    throw std::runtime_error("cuFFT failed to make a signal");
  }
  narrow<<<1024, 256>>>(spectrum.as<cufftDoubleComplex>(), static_cast<cufftComplex*>(out), points,
                        1.0 / static_cast<double>(points));
  gpu(cudaDeviceSynchronize());
  cufftDestroy(handle);
}

void widen_samples(const void* in, bool wide, float* out, std::int64_t count, cudaStream_t stream) {
  if (wide) {
    widen<<<1024, 256, 0, stream>>>(static_cast<const std::uint16_t*>(in), out, count);
  } else {
    widen<<<1024, 256, 0, stream>>>(static_cast<const std::uint8_t*>(in), out, count);
  }
  gpu(cudaGetLastError());
}

}  // namespace sfft::bench
