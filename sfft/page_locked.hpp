// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory, for programs that do not use the CUDA runtime themselves.
#pragma once

#include <cstddef>
#include <memory>

#include "sfft/export.hpp"

namespace sfft {

/// Host memory that every GPU of the machine reads in place. GPU plans transform frames in it without a copy
/// by the host, and adjacent frames of one block share kernel launches: see PlanOptions::Transfer. Allocation
/// takes milliseconds per frame, so keep it while frames come.
class SFFT_EXPORT PageLockedMemory {
 public:
  PageLockedMemory() = default;  ///< holds nothing
  /// `gpu`: the GPU whose driver context allocates it, numbered as by the driver.
  /// Throws backend_unavailable without a usable GPU, and out_of_memory if the
  /// system refuses to lock so much.
  explicit PageLockedMemory(std::size_t bytes, int gpu = 0);

  /// The first byte; null if empty.
  std::byte* data() const noexcept { return data_.get(); }
  /// Size of the memory.
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::shared_ptr<std::byte> data_;
  std::size_t bytes_ = 0;
};

}  // namespace sfft
