// SPDX-License-Identifier: Apache-2.0
// Host checks and allocations of every call of a dense plan: overlapping arrays, workspace.
#pragma once

#include <cstddef>
#include <new>
#include <span>

#include "kernels/base/memory_budget.hpp"

namespace sfft::detail {

/// The caller's workspace, which is checked, or one for this call. A small workspace is on the stack, because
/// allocation takes longer than a transform of a few dozen points. Throws Error(invalid_argument,
/// out_of_memory).
class Scratch {
 public:
  Scratch(std::span<std::byte> given, std::size_t bytes) : data_(given.data()) {
    if (given.empty() && bytes <= kSmallBytes) {
      data_ = small_;
    } else {
      take(given, bytes);
    }
  }
  ~Scratch() {
    if (own_ != nullptr) ::operator delete(own_, kAlignment);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::byte* data() const noexcept { return data_; }

 private:
  void take(std::span<std::byte> given, std::size_t bytes);

  static constexpr std::align_val_t kAlignment{64};
  static constexpr std::size_t kSmallBytes = 4096;
  alignas(64) std::byte small_[kSmallBytes];  // not initialised
  std::byte* data_;
  MemoryShare share_;
  std::byte* own_ = nullptr;
};

/// Input and output may be the same memory if `in_place`, otherwise they must not overlap. Throws
/// Error(invalid_argument).
void check_overlap(const void* input, std::size_t input_bytes, const void* output, std::size_t output_bytes,
                   bool in_place);

}  // namespace sfft::detail
