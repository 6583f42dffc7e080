// SPDX-License-Identifier: Apache-2.0
// Memory aligned to cache lines.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <new>

#include "kernels/runtime/memory_budget.hpp"

namespace sfft::detail {

/// `bytes` rounded up to whole cache lines of 64 bytes.
template <std::integral Count>
constexpr Count aligned_bytes(Count bytes) noexcept {
  return (bytes + 63) / 64 * 64;
}

/// 64-byte aligned bytes, not initialised. They count in the thread's MemoryBudget.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t bytes)
      : share_(bytes),
        bytes_(bytes),
        data_(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}))) {}
  std::byte* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept { ::operator delete (p, std::align_val_t{64}); }
  };
  MemoryShare share_;
  std::size_t bytes_ = 0;
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace sfft::detail
