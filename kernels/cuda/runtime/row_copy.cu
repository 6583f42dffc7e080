// SPDX-License-Identifier: Apache-2.0
// Copies rows between page-locked host memory and GPU memory with a kernel. For short rows, copy engines lose
// a third of their rate while other kernels access the GPU's memory. Threads load several words before they
// store them: the bus is limited by the bytes in flight.
#include <algorithm>
#include <cstdint>

#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

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

void launch_row_copy(const Rows& to, const Rows& from, Stream stream) {
  constexpr std::int64_t kMaxWords = std::int64_t{1} << 31;  // because indices have 32 bits
  constexpr std::int64_t kWord = sizeof(Word);
  if (to.width == 0 || to.rows == 0) return;
  const std::int64_t each = std::max<std::int64_t>(1, kMaxWords / (to.width / kWord));
  for (std::int64_t row = 0; row < to.rows; row += each) {
    const std::int64_t count = std::min(each, to.rows - row), words = to.width / kWord;
    row_copy_kernel<<<kBlocks, kThreads, 0, stream>>>(
        reinterpret_cast<Word*>(to.data + row * to.pitch), to.pitch / kWord,
        reinterpret_cast<const Word*>(from.data + row * from.pitch), from.pitch / kWord,
        static_cast<unsigned>(words), static_cast<unsigned>(words * count));
    check_launch("copy of rows");
  }
}

}  // namespace sfft::detail::cuda
