// SPDX-License-Identifier: Apache-2.0
// Converts pitched luma from a hardware decoder to a contiguous frame of full range.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// As sfft::DevicePlane.
struct LumaPlane {
  const void* data;
  std::int64_t width, height, pitch_bytes;
  int bits, shift;
  bool limited_range;
};

/// Writes u8 samples, or u16 for more than 8 bits.
void launch_luma(const LumaPlane& plane, std::byte* to, Stream stream);

}  // namespace sfft::detail::cuda
