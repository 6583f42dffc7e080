// SPDX-License-Identifier: Apache-2.0
// Memory aligned to cache lines, for workspaces. (The library's detail::AlignedBuffer is not exported.)
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

namespace sfft::video {

/// Bytes at a multiple of 64, not initialised. A workspace that is kept does not fragment the heap.
class AlignedBytes {
 public:
  explicit AlignedBytes(std::size_t bytes = 0)
      : bytes_(bytes), data_(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}))) {}
  std::span<std::byte> span() const noexcept { return {data_.get(), bytes_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const noexcept { ::operator delete (data, std::align_val_t{64}); }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace sfft::video
