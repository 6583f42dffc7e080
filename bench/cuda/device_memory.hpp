// SPDX-License-Identifier: Apache-2.0
// GPU memory for benchmarks: the library's buffers, allocated only with the CUDA runtime.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::bench {

inline void gpu(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

/// Kinds of memory for the library's buffers. Benchmarks link the shared library, which does not export its
/// kinds of memory.
struct OnDevice {
  static void* allocate(std::size_t bytes) {
    void* data = nullptr;
    if (bytes > 0) gpu(cudaMalloc(&data, bytes));
    return data;
  }
  static void release(void* data, std::size_t) noexcept {
    if (data != nullptr) cudaFree(data);
  }
};
struct PageLocked {
  static void* allocate(std::size_t bytes) {
    void* data = nullptr;
    if (bytes > 0) gpu(cudaHostAlloc(&data, bytes, cudaHostAllocDefault));
    return data;
  }
  static void release(void* data, std::size_t) noexcept {
    if (data != nullptr) cudaFreeHost(data);
  }
};
using DeviceBuffer = detail::cuda::Buffer<OnDevice>;
using PinnedBuffer = detail::cuda::Buffer<PageLocked>;

template <class Range>
DeviceBuffer upload(const Range& values) {
  DeviceBuffer buffer(values.size() * sizeof(*values.data()));
  gpu(cudaMemcpy(buffer.data(), values.data(), buffer.bytes(), cudaMemcpyHostToDevice));
  return buffer;
}

template <class T>
std::vector<T> download(const T* from, std::size_t count) {
  std::vector<T> out(count);
  gpu(cudaMemcpy(out.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
  return out;
}

}  // namespace sfft::bench
