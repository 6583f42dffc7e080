// SPDX-License-Identifier: Apache-2.0
// The device, memory and events that the CUDA port and the libraries on CUDA share.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <utility>

#include "bench/technologies/clock.hpp"
#include "bench/technologies/technology.hpp"

namespace sfft::technologies {

inline void cuda(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw Failure(std::string(call) + ": " + cudaGetErrorString(status));
}

/// Device memory, freed with its owner.
class CudaArray {
 public:
  CudaArray() = default;
  explicit CudaArray(std::int64_t bytes) {
    if (bytes > 0) cuda(cudaMalloc(&data_, static_cast<std::size_t>(bytes)), "cudaMalloc");
  }
  ~CudaArray() { cudaFree(data_); }
  CudaArray(CudaArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  CudaArray& operator=(CudaArray&& other) noexcept {
    std::swap(data_, other.data_);
    return *this;
  }
  float2* data() const { return static_cast<float2*>(data_); }

 private:
  void* data_ = nullptr;
};

/// A stream and two events on one device.
class CudaQueue {
 public:
  /// Whether there is a device of this number. Throws Failure if there is no device at all.
  static bool exists(int device) {
    int count = 0;
    cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
    if (count == 0) throw Failure("no CUDA device");
    return device < count;
  }
  explicit CudaQueue(int device, Facts& facts) {
    cudaDeviceProp properties{};
    cuda(cudaSetDevice(device), "cudaSetDevice");
    cuda(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    int driver = 0;
    cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    facts.device = properties.name;
    facts.driver = "CUDA " + std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10);
    facts.gpu = true;
    facts.limits = {properties.maxThreadsPerBlock, static_cast<std::int64_t>(properties.sharedMemPerBlock), 0,
                    static_cast<std::int64_t>(properties.totalGlobalMem), 0x7fffffff};
    cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    cuda(cudaEventCreate(&start_), "cudaEventCreate");
    cuda(cudaEventCreate(&stop_), "cudaEventCreate");
  }
  ~CudaQueue() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
    cudaStreamDestroy(stream_);
  }
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;
  cudaStream_t stream() const { return stream_; }

  Sample timed(const std::function<void()>& enqueue) const {
    const Stopwatch watch;
    cuda(cudaEventRecord(start_, stream_), "cudaEventRecord");
    enqueue();
    cuda(cudaEventRecord(stop_, stream_), "cudaEventRecord");
    Sample sample;
    sample.submit_us = watch.us();
    cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    sample.wall_us = watch.us();
    float milliseconds = 0;
    cuda(cudaEventElapsedTime(&milliseconds, start_, stop_), "cudaEventElapsedTime");
    sample.device_us = 1e3 * static_cast<double>(milliseconds);
    return sample;
  }
  void copy(void* to, const void* from, std::int64_t bytes) const {
    cuda(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDefault, stream_),
         "cudaMemcpy");
    cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

}  // namespace sfft::technologies
