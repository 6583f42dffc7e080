// SPDX-License-Identifier: Apache-2.0
// Each warp copies a row, and neighbouring lanes read neighbouring words, so the bus carries whole lines. The
// copy engine is as fast for long runs of rows, but a quarter to a half slower for several sets of short
// rows.
#include "kernels/cuda/runtime/entry.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/stages/binning.hpp"
#include "kernels/cuda/stages/row_set.hpp"

namespace sfft::detail::cuda {

namespace {

/// These threads keep enough requests in flight for any bus; the other multiprocessors are left to
/// transforms.
constexpr int kFetchBlocks = 16, kFetchThreads = 512;

struct FetchArguments {
  const std::byte* frames;
  std::byte* compact;
  std::int64_t frame_bytes, compact_bytes;  ///< from one frame to the next
  std::int64_t step_bytes;                  ///< from one row of a set to the next
  int row_words, rows, sets, count;
  int element, witness_samples;
  std::int64_t copied_bytes;             ///< bytes of a frame's rows
  const std::int64_t* witness;           ///< linear indices
  std::int64_t starts[kMaxCombOffsets];  ///< offsets of the sets' first rows, in bytes
};

template <class Word>
__global__ void __launch_bounds__(kFetchThreads) fetch_rows_kernel(const __grid_constant__ FetchArguments a) {
  allow_next_kernel();
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int threads = static_cast<int>(gridDim.x * blockDim.x);
  // Scattered samples take the longest, so request them first.
  for (int i = thread; i < a.count * a.witness_samples; i += threads) {
    const int frame = i / a.witness_samples, sample = i - frame * a.witness_samples;
    const std::byte* from = a.frames + frame * a.frame_bytes + a.witness[sample] * a.element;
    std::byte* to = a.compact + frame * a.compact_bytes + a.copied_bytes + sample * a.element;
    for (int b = 0; b < a.element; ++b) to[b] = from[b];
  }
  constexpr int kAhead = 4;
  const int lane = thread % 32, rows = a.rows * a.sets;
  for (int r = thread / 32; r < a.count * rows; r += threads / 32) {
    const int frame = r / rows, in_frame = r - frame * rows;
    const int set = in_frame / a.rows, row = in_frame - set * a.rows;
    const auto* from =
        reinterpret_cast<const Word*>(a.frames + frame * a.frame_bytes + a.starts[set] + row * a.step_bytes);
    auto* to = reinterpret_cast<Word*>(a.compact + frame * a.compact_bytes) +
               static_cast<std::int64_t>(in_frame) * a.row_words;
    for (int i = lane; i < a.row_words; i += 32 * kAhead) {
      Word words[kAhead];
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        if (i + 32 * j < a.row_words) words[j] = __ldcs(from + i + 32 * j);
      }
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        if (i + 32 * j < a.row_words) to[i + 32 * j] = words[j];
      }
    }
  }
}

}  // namespace

void launch_fetch_rows(const RowSet& set, const RowWitness& witness, const void* frames, std::size_t element,
                       int count, void* compact, Stream stream) {
  const auto bytes = [&](std::int64_t elements) { return elements * static_cast<std::int64_t>(element); };
  FetchArguments a{};
  a.frames = static_cast<const std::byte*>(frames);
  a.compact = static_cast<std::byte*>(compact);
  a.frame_bytes = bytes(set.rows * set.step);
  a.compact_bytes = bytes(set.compact_elements());
  a.step_bytes = bytes(set.step);
  a.rows = static_cast<int>(set.rows);
  a.sets = static_cast<int>(set.starts.size());
  a.count = count;
  a.element = static_cast<int>(element);
  a.witness_samples = witness.count;
  a.witness = witness.samples;
  a.copied_bytes = bytes(set.copied_elements());
  for (std::size_t i = 0; i < set.starts.size(); ++i) a.starts[i] = bytes(set.starts[i]);
  const std::int64_t row_bytes = bytes(set.row_elements);
  LaunchShape shape;
  shape.blocks = std::min<std::int64_t>(kFetchBlocks,
                                        (count * set.copied_rows() * 32 + kFetchThreads - 1) / kFetchThreads);
  shape.threads = kFetchThreads;
  const auto start = [&](auto word) {
    using Word = decltype(word);
    a.row_words = static_cast<int>(row_bytes / static_cast<std::int64_t>(sizeof(Word)));
    launch(fetch_rows_kernel<Word>, shape, a, stream, "launching the copy of rows");
  };
  const std::size_t word = fetched_word(set, frames, element);
  if (word == 16) {
    start(uint4{});
  } else if (word == 8) {
    start(uint2{});
  } else {
    start(0U);
  }
}

}  // namespace sfft::detail::cuda
