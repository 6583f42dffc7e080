// SPDX-License-Identifier: Apache-2.0
// Split-half transforms of folded lines on tensor cores, with their tables and launches.
#pragma once

#include "kernels/base/tensor/folded.hpp"
#include "kernels/cuda/runtime/device_types.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Transforms batches of contiguous lines of 3 to 255 points. Its device must be current for construction and
/// run(). Immutable.
class FoldedTransform {
 public:
  /// Throws Error(backend_unavailable) if the device or the build lacks the instructions.
  FoldedTransform(int points, std::int64_t lines, int device);

  struct Call {
    const void* from = nullptr;
    void* to = nullptr;  ///< may be `from`
    bool inverse = false;
    float scale = 1;
    bool split = true;  ///< false: products use fp16 alone, for comparison
  };
  /// Stream-ordered, allocates nothing.
  void run(const Call& call, Stream stream) const;

 private:
  tensor::FoldedPass pass_;
  bool overlap_ = false;
  int blocks_ = 0;
  DeviceBuffer matrices_;
};

}  // namespace sfft::detail::cuda
