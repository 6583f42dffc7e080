// SPDX-License-Identifier: Apache-2.0
// Learning the k largest frequencies of one frame on a GPU, in one pass.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/spectrum/largest.hpp"
#include "sfft/types.hpp"

namespace sfft::detail::cuda {

/// A contiguous frame.
struct LearningFrame {
  const void* samples;
  ElementType type;
  Shape shape;
  int device;
  /// Whether the GPU can read the samples once `stream` has finished its queued work. Otherwise they are in
  /// host memory and `stream` is ignored.
  bool resident = false;
  Stream stream = nullptr;
};

/// Transforms, selects and sums with one allocation of GPU memory and one wait; 1 <= k <= the number of
/// distinct frequencies. Returns nothing if FrameFft does not support the shape. Throws
/// Error(backend_unavailable, out_of_memory, device).
std::optional<LargestOfSpectrum> learn_largest(const LearningFrame& frame, std::int64_t k);

}  // namespace sfft::detail::cuda
