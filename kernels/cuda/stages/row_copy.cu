// SPDX-License-Identifier: Apache-2.0
// Threads load several words before they store them: the bus is limited by the bytes in flight.
#include <algorithm>
#include <cstdint>

#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/columns.hpp"

namespace sfft::detail::cuda {

namespace {

constexpr unsigned kBlocks = 16;  // more slow down copies in the other direction
constexpr int kAtOnce = 4;

using Word = uint4;

/// Pitches and widths are in words; `total` counts the words of all rows.
__global__ void __launch_bounds__(kThreads)
    row_copy_kernel(Word* to, std::int64_t to_pitch, const Word* from, std::int64_t from_pitch,
                    unsigned width, unsigned total) {
  const unsigned step = gridDim.x * blockDim.x * kAtOnce;
  for (unsigned first = blockIdx.x * blockDim.x * kAtOnce; first < total; first += step) {
    Word words[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const unsigned at = first + static_cast<unsigned>(i) * blockDim.x + threadIdx.x;
      if (at < total) words[i] = from[at / width * from_pitch + at % width];
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const unsigned at = first + static_cast<unsigned>(i) * blockDim.x + threadIdx.x;
      if (at < total) to[at / width * to_pitch + at % width] = words[i];
    }
  }
}

}  // namespace

void launch_row_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                     std::size_t width, std::size_t rows, Stream stream) {
  constexpr std::size_t kMaxWords = std::size_t{1} << 31;  // because indices have 32 bits
  if (width == 0 || rows == 0) return;
  const auto words = [](std::size_t bytes) { return bytes / sizeof(Word); };
  const std::size_t each = std::max<std::size_t>(1, kMaxWords / words(width));
  for (std::size_t row = 0; row < rows; row += each) {
    const std::size_t count = std::min(each, rows - row);
    row_copy_kernel<<<kBlocks, kThreads, 0, stream>>>(
        static_cast<Word*>(to) + row * words(to_pitch), static_cast<std::int64_t>(words(to_pitch)),
        static_cast<const Word*>(from) + row * words(from_pitch),
        static_cast<std::int64_t>(words(from_pitch)), static_cast<unsigned>(words(width)),
        static_cast<unsigned>(words(width) * count));
    check_launch("copy of rows");
  }
}

}  // namespace sfft::detail::cuda
