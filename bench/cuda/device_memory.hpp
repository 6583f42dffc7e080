// SPDX-License-Identifier: Apache-2.0
// Memory of the GPU for benchmarks, over the CUDA runtime alone.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sfft::bench {

inline void gpu(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(status));
}

/// Memory that is freed with its owner. `Kind` allocates and releases.
template <class Kind>
class OwnedMemory {
 public:
  OwnedMemory() = default;
  explicit OwnedMemory(std::size_t bytes) : bytes_(bytes) {
    if (bytes > 0) gpu(Kind::allocate(&data_, bytes));
  }
  ~OwnedMemory() {
    if (data_ != nullptr) Kind::release(data_);
  }
  OwnedMemory(OwnedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  OwnedMemory& operator=(OwnedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::size_t bytes() const noexcept { return bytes_; }
  std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
};

struct OnDevice {
  static cudaError_t allocate(void** data, std::size_t bytes) { return cudaMalloc(data, bytes); }
  static void release(void* data) noexcept { cudaFree(data); }
};
struct PageLocked {
  static cudaError_t allocate(void** data, std::size_t bytes) {
    return cudaHostAlloc(data, bytes, cudaHostAllocDefault);
  }
  static void release(void* data) noexcept { cudaFreeHost(data); }
};
using DeviceBuffer = OwnedMemory<OnDevice>;
using PinnedBuffer = OwnedMemory<PageLocked>;

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
