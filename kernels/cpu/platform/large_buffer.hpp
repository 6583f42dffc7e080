// SPDX-License-Identifier: Apache-2.0
// Uninitialised memory for arrays larger than the caches.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/runtime/memory_budget.hpp"

namespace sfft::detail::cpu {

struct LargeBufferDelete {
  std::size_t alignment = 0;
  MemoryShare share{};
  void operator()(std::byte* memory) const noexcept;
};
using LargeBuffer = std::unique_ptr<std::byte, LargeBufferDelete>;

/// At least `bytes`, aligned to 64 bytes or more. Asks the system for large pages where they may help: a
/// fresh array then causes fewer page faults, and strided passes cause fewer TLB misses. Counts in the
/// thread's MemoryBudget. Throws std::bad_alloc, and Error(out_of_memory) beyond the limit of that budget.
LargeBuffer make_large_buffer(std::size_t bytes);

/// An array of uninitialised numbers.
template <class T>
class LargeArray {
 public:
  LargeArray() = default;
  explicit LargeArray(std::size_t size) : memory_(make_large_buffer(size * sizeof(T))), size_(size) {}

  std::size_t size() const noexcept { return size_; }
  T* begin() noexcept { return reinterpret_cast<T*>(memory_.get()); }
  T* end() noexcept { return begin() + size_; }
  const T* begin() const noexcept { return reinterpret_cast<const T*>(memory_.get()); }
  const T* end() const noexcept { return begin() + size_; }
  T& operator[](std::size_t i) noexcept { return begin()[i]; }
  const T& operator[](std::size_t i) const noexcept { return begin()[i]; }

 private:
  LargeBuffer memory_;
  std::size_t size_ = 0;
};

}  // namespace sfft::detail::cpu
