// A forward double-precision cuFFT of one signal of any size, whose work area is a DeviceBuffer.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "kernels/cuda/cufft_handle.hpp"
#include "kernels/cuda/runtime.hpp"

namespace sfft::detail::cuda {

/// Of the current device, queued on one stream; unscaled. Not for use from several threads at once.
class CufftPlan {
 public:
  /// Row-major extents, slowest first. Real signals give (n1, …, nD/2 + 1) values.
  CufftPlan(const std::vector<std::int64_t>& extents, bool real, Stream stream);

  void forward(double* samples, std::complex<double>* spectrum);
  void forward_in_place(std::complex<double>* spectrum);

 private:
  DeviceBuffer work_;  ///< outlives the handle
  CufftHandle handle_;
};

}  // namespace sfft::detail::cuda
