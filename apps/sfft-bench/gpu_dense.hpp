// SPDX-License-Identifier: Apache-2.0
// The dense GPU engines for recordings: cuFFT in two ways, VkFFT and the library's engine.
#pragma once

#include <cuda_runtime.h>

#include <complex>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sfft/types.hpp"

namespace sfft::apps {

/// Transforms batches of real float frames in GPU memory.
class GpuDense {
 public:
  virtual ~GpuDense() = default;
  virtual std::string name() const = 0;
  virtual std::string detail() const = 0;
  /// Discards the plan and frees its memory.
  virtual void clear() = 0;
  /// Creates the plan and memory for spectra, which replace the previous ones. Throws std::runtime_error if
  /// the engine is missing or does not support the shape.
  virtual void plan(const Shape& shape, std::int64_t batch) = 0;
  virtual void enqueue(const float* frames, cudaStream_t stream) = 0;
  virtual const std::complex<float>* spectra() const = 0;  ///< the latest batch's, on the GPU
};

/// The engines in this build.
std::vector<std::unique_ptr<GpuDense>> make_gpu_dense();

}  // namespace sfft::apps
