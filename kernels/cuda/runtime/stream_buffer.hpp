// SPDX-License-Identifier: Apache-2.0
// GPU memory for work on one stream.
#pragma once

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Memory of the current device, allocated and freed in the order of a stream. It comes from a pool that
/// keeps at most 64 MiB for later buffers: the driver takes longer to map and unmap memory than a GPU takes
/// to transform a frame in it. Throws as Buffer does.
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

}  // namespace sfft::detail::cuda
