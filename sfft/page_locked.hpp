// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory, for programs that do not use the CUDA runtime themselves.
#pragma once

#include <cstddef>
#include <memory>

#include "kernels/base/export.hpp"

namespace sfft {

/// Host memory that every GPU of the machine reads in place. GPU plans transform frames that lie in it
/// without a copy made by the host, and frames that lie side by side in one block share their launches: see
/// Transfer. Allocating takes milliseconds per frame, so keep it as long as frames come.
class SFFT_EXPORT PageLockedMemory {
 public:
  PageLockedMemory() = default;  ///< holds nothing
  /// `device`: the GPU whose driver context allocates it, numbered as by the driver. Throws
  /// backend_unavailable where there is no usable GPU, out_of_memory where the system refuses to lock as
  /// much.
  explicit PageLockedMemory(std::size_t bytes, int device = 0);

  std::byte* data() const noexcept { return data_.get(); }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  std::shared_ptr<std::byte> data_;
  std::size_t bytes_ = 0;
};

}  // namespace sfft
