// SPDX-License-Identifier: Apache-2.0
// Each thread converts one column of samples and strides over the rows.
#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/luma_range.hpp"
#include "kernels/cuda/stages/pack.hpp"

namespace sfft::detail::cuda {

namespace {

__global__ void bytes_kernel(LumaPlane plane, std::uint8_t* to) {
  const std::int64_t x = blockIdx.x * std::int64_t{kThreads} + threadIdx.x;
  if (x >= plane.width) return;
  const auto* const rows = static_cast<const std::uint8_t*>(plane.data);
  for (std::int64_t y = blockIdx.y; y < plane.height; y += gridDim.y) {
    const std::uint8_t sample = rows[y * plane.pitch_bytes + x];
    to[y * plane.width + x] = plane.limited_range ? full_range(sample) : sample;
  }
}

__global__ void words_kernel(LumaPlane plane, FullRange stretched, std::uint16_t* to) {
  const std::int64_t x = blockIdx.x * std::int64_t{kThreads} + threadIdx.x;
  if (x >= plane.width) return;
  const auto mask = static_cast<std::uint16_t>((1U << plane.bits) - 1);
  const auto* const rows = static_cast<const std::uint16_t*>(plane.data);
  for (std::int64_t y = blockIdx.y; y < plane.height; y += gridDim.y) {
    const std::uint16_t word = rows[y * (plane.pitch_bytes / 2) + x];
    const auto sample = static_cast<std::uint16_t>((word >> plane.shift) & mask);
    to[y * plane.width + x] = plane.limited_range ? stretched(sample) : sample;
  }
}

}  // namespace

void launch_luma(const LumaPlane& plane, std::byte* to, Stream stream) {
  constexpr std::int64_t kMaxRows = 1024;
  const dim3 blocks(static_cast<unsigned>((plane.width + kThreads - 1) / kThreads),
                    static_cast<unsigned>(plane.height < kMaxRows ? plane.height : kMaxRows));
  if (plane.bits > 8) {
    words_kernel<<<blocks, kThreads, 0, stream>>>(plane, FullRange(plane.bits),
                                                  reinterpret_cast<std::uint16_t*>(to));
  } else {
    bytes_kernel<<<blocks, kThreads, 0, stream>>>(plane, reinterpret_cast<std::uint8_t*>(to));
  }
  check_launch("luma");
}

}  // namespace sfft::detail::cuda
