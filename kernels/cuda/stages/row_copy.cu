// SPDX-License-Identifier: Apache-2.0
// Threads load several words before they store them: what limits the bus is how much is on its way.
#include <algorithm>
#include <cstdint>

#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/row_copy.hpp"

namespace sfft::detail::cuda {

namespace {

constexpr unsigned kBlocks = 16;  // more slow down copies in the other direction
constexpr int kAtOnce = 4;

/// Pitches and widths in words; `total`: of all rows.
template <class Word>
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

template <class Word>
void launch(std::byte* to, std::size_t to_pitch, const std::byte* from, std::size_t from_pitch,
            std::size_t width, std::size_t rows, Stream stream) {
  constexpr std::size_t kMostWords = std::size_t{1} << 31;  // indices of 32 bits
  const auto words = [](std::size_t bytes) { return bytes / sizeof(Word); };
  const std::size_t each = std::max<std::size_t>(1, kMostWords / words(width));
  for (std::size_t row = 0; row < rows; row += each) {
    const std::size_t count = std::min(each, rows - row);
    row_copy_kernel<Word><<<kBlocks, kThreads, 0, stream>>>(
        reinterpret_cast<Word*>(to + row * to_pitch), static_cast<std::int64_t>(words(to_pitch)),
        reinterpret_cast<const Word*>(from + row * from_pitch), static_cast<std::int64_t>(words(from_pitch)),
        static_cast<unsigned>(words(width)), static_cast<unsigned>(words(width) * count));
    check_launch("copy of rows");
  }
}

}  // namespace

void launch_row_copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                     std::size_t width, std::size_t rows, Stream stream) {
  if (width == 0 || rows == 0) return;
  const std::uintptr_t all = reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from) |
                             to_pitch | from_pitch | width;
  const auto copy = all % sizeof(uint4) == 0   ? launch<uint4>
                    : all % sizeof(uint2) == 0 ? launch<uint2>
                                               : launch<unsigned>;
  copy(static_cast<std::byte*>(to), to_pitch, static_cast<const std::byte*>(from), from_pitch, width, rows,
       stream);
}

}  // namespace sfft::detail::cuda
