// SPDX-License-Identifier: Apache-2.0
// GPU memory from a pool that the library keeps: for work on one stream, and for long-lived tables.
#pragma once

#include <utility>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Memory of the current device, allocated and freed in stream order. It comes from a pool that retains up to
/// 64 MiB for later buffers: mapping and unmapping memory takes the driver longer than a GPU takes to
/// transform a frame. Throws as Buffer does.
class StreamBuffer {
 public:
  StreamBuffer(std::size_t bytes, Stream stream);
  ~StreamBuffer();
  StreamBuffer(const StreamBuffer&) = delete;
  StreamBuffer& operator=(const StreamBuffer&) = delete;
  std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }
  template <class T>
  T* as() const noexcept {
    return static_cast<T*>(data_);
  }

 private:
  void* data_ = nullptr;
  std::size_t bytes_;
  Stream stream_;
  bool pooled_ = false;
};

/// Memory of the same pool for every stream: allocated in the order of the default stream, and freed after
/// all work queued on the device, as by cudaFree(), whichever device is then current.
class PooledBuffer {
 public:
  PooledBuffer() = default;
  explicit PooledBuffer(std::size_t bytes);
  ~PooledBuffer();
  PooledBuffer(PooledBuffer&& other) noexcept { *this = std::move(other); }
  PooledBuffer& operator=(PooledBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(device_, other.device_);
    return *this;
  }
  std::byte* data() const noexcept { return static_cast<std::byte*>(data_); }

 private:
  void* data_ = nullptr;
  std::size_t bytes_ = 0;
  int device_ = -1;  ///< -1: not from a pool
};

}  // namespace sfft::detail::cuda
