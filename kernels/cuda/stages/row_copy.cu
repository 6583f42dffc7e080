// SPDX-License-Identifier: Apache-2.0
// A warp moves four words per lane before it stores the first, so that a few blocks keep the bus busy.
#include <algorithm>
#include <cstdint>

#include "kernels/cuda/runtime/launch.hpp"
#include "kernels/cuda/stages/row_copy.hpp"

namespace sfft::detail::cuda {

namespace {

constexpr int kWordsOfLane = 4, kBlocks = 64;

template <class Word>
__global__ void copy_rows_kernel(char* __restrict__ to, std::size_t to_pitch, const char* __restrict__ from,
                                 std::size_t from_pitch, unsigned words, std::size_t rows) {
  constexpr unsigned kStretch = 32 * kWordsOfLane;
  const unsigned lane = threadIdx.x % 32, stretches = (words + kStretch - 1) / kStretch;
  const std::size_t warps = gridDim.x * (blockDim.x / 32), total = rows * stretches;
  for (std::size_t s = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; s < total; s += warps) {
    const std::size_t row = s / stretches;
    const unsigned first = static_cast<unsigned>(s % stretches) * kStretch + lane;
    const auto* const source = reinterpret_cast<const Word*>(from + row * from_pitch);
    auto* const result = reinterpret_cast<Word*>(to + row * to_pitch);
    Word held[kWordsOfLane];
#pragma unroll
    for (int w = 0; w < kWordsOfLane; ++w)
      if (first + 32 * w < words) held[w] = source[first + 32 * w];
#pragma unroll
    for (int w = 0; w < kWordsOfLane; ++w)
      if (first + 32 * w < words) result[first + 32 * w] = held[w];
  }
}

template <class Word>
void copy(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
          std::size_t rows, Stream stream) {
  copy_rows_kernel<Word><<<kBlocks, kThreads, 0, stream>>>(static_cast<char*>(to), to_pitch,
                                                           static_cast<const char*>(from), from_pitch,
                                                           static_cast<unsigned>(width / sizeof(Word)), rows);
}

}  // namespace

void launch_copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t rows, Stream stream) {
  const std::size_t all =
      reinterpret_cast<std::size_t>(to) | to_pitch | reinterpret_cast<std::size_t>(from) | from_pitch | width;
  if (all % sizeof(uint4) == 0) {
    copy<uint4>(to, to_pitch, from, from_pitch, width, rows, stream);
  } else if (all % sizeof(uint2) == 0) {
    copy<uint2>(to, to_pitch, from, from_pitch, width, rows, stream);
  } else {
    copy<unsigned>(to, to_pitch, from, from_pitch, width, rows, stream);
  }
  check_launch("copy of rows");
}

}  // namespace sfft::detail::cuda
