// SPDX-License-Identifier: Apache-2.0
// cuFFT's transforms in half precision, which exist only for powers of two.
#pragma once

#include <cufftXt.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/cuda/device_memory.hpp"

namespace sfft::bench {

/// Forward transforms of contiguous f16 values to f16 spectra.
class CufftHalf {
 public:
  /// Returns null if cuFFT refuses the problem.
  static std::unique_ptr<CufftHalf> make(const std::vector<std::int64_t>& extents, bool real,
                                         std::int64_t batch) {
    auto made = std::make_unique<CufftHalf>();
    std::vector<long long> n(extents.begin(), extents.end());
    const cufftResult result = cufftXtMakePlanMany(made->handle_, static_cast<int>(n.size()), n.data(),
                                                   nullptr, 1, 0, real ? CUDA_R_16F : CUDA_C_16F, nullptr, 1,
                                                   0, CUDA_C_16F, batch, &made->work_bytes_, CUDA_C_16F);
    if (result != CUFFT_SUCCESS) return nullptr;
    return made;
  }
  CufftHalf() { check(cufftCreate(&handle_)); }
  ~CufftHalf() { cufftDestroy(handle_); }
  CufftHalf(const CufftHalf&) = delete;
  CufftHalf& operator=(const CufftHalf&) = delete;

  void enqueue(const void* signals, void* spectra, cudaStream_t stream) const {
    check(cufftSetStream(handle_, stream));
    check(cufftXtExec(handle_, const_cast<void*>(signals), spectra, CUFFT_FORWARD));
  }

 private:
  static void check(cufftResult result) {
    if (result != CUFFT_SUCCESS) throw std::runtime_error("cuFFT failed: " + std::to_string(result));
  }

  cufftHandle handle_ = 0;
  std::size_t work_bytes_ = 0;
};

}  // namespace sfft::bench
