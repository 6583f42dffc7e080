// SPDX-License-Identifier: Apache-2.0
// Moves whole lines of 16-bit values between global and shared memory without converting them, 16 bytes at a
// time where addresses allow it. A warp moves the lines that it transforms, within its part of shared memory.
#pragma once

#include "kernels/dense/tuned/device/tile.cuh"

namespace sfft::device {

template <class K>
class PackedTile {
  using Line = typename Tile<K>::Line;
  using InVector = typename Tile<K>::InVector;
  using OutVector = typename Tile<K>::OutVector;
  static constexpr int kPoints = K::step.points;
  static constexpr int kPitch = packed_pitch(K::step, Line::kSingle);  ///< values from one line to the next
  /// Lines that a group of threads moves for itself: a warp, or else the block.
  static constexpr int kLines = Line::kWithinWarp ? 32 / Line::kThreads : Line::kTransforms;
  static constexpr int kGroup = Line::kWithinWarp ? 32 : Tile<K>::kBlock;
  static constexpr int kValues = kCopyBytes / 4;  ///< values per word
  /// kWhole: lines are whole words or follow each other without gaps. kWords: the words of a group.
  static constexpr bool kWhole = kPitch == kPoints || kPoints % kValues == 0;
  static constexpr int kWords = kLines * kPoints / kValues;
  static constexpr int kRounds = (kWords + kGroup - 1) / kGroup;

 public:
  static __device__ __forceinline__ void barrier() { line_barrier<Line>(); }

  template <class Vector>
  static __device__ __forceinline__ Vector& at(void* shared, int j, int line) {
    return group_memory<Vector>(shared, line / kLines)[line % kLines * kPitch + j];
  }

  static __device__ __forceinline__ void read(const Tile<K>& memory, void* shared) {
    const Group own(memory);
    if (own.count <= 0) return;
    auto* const to = group_memory<InVector>(shared, own.index);
    const InVector* const from = memory.input_line(own.first);
    if (words(from, to)) {
      const uint4* const own_words = reinterpret_cast<const uint4*>(from) + own.thread;
      uint4 held[kRounds > 0 ? kRounds : 1];
#pragma unroll
      for (int r = 0; r < kRounds; ++r) {
        if (own.has_word(r)) held[r] = load_as<Tile<K>::kReads>(own_words + r * kGroup);
      }
#pragma unroll
      for (int r = 0; r < kRounds; ++r) {
        if (own.has_word(r)) *reinterpret_cast<uint4*>(to + slot_of_word(own.thread, r)) = held[r];
      }
      for (int i = own.count / kValues * kValues + own.thread; i < own.count; i += kGroup)
        to[slot(i)] = from[i];
    } else {
      for (int i = own.thread; i < own.count; i += kGroup) to[slot(i)] = load_as<Tile<K>::kReads>(from + i);
    }
  }

  static __device__ __forceinline__ void write(const Tile<K>& memory, void* shared) {
    const Group own(memory);
    if (own.count <= 0) return;
    const auto* const from = group_memory<OutVector>(shared, own.index);
    OutVector* const to = memory.output_line(own.first);
    if (words(from, to)) {
      uint4* const own_words = reinterpret_cast<uint4*>(to) + own.thread;
#pragma unroll
      for (int r = 0; r < kRounds; ++r) {
        if (own.has_word(r))
          store_as<Tile<K>::kWrites>(own_words + r * kGroup,
                                     *reinterpret_cast<const uint4*>(from + slot_of_word(own.thread, r)));
      }
      for (int i = own.count / kValues * kValues + own.thread; i < own.count; i += kGroup)
        to[i] = from[slot(i)];
    } else {
      for (int i = own.thread; i < own.count; i += kGroup) store_as<Tile<K>::kWrites>(to + i, from[slot(i)]);
    }
  }

 private:
  /// The threads that move lines together, and how many values they move.
  struct Group {
    int index, thread, first, count;
    __device__ __forceinline__ explicit Group(const Tile<K>& memory)
        : index(static_cast<int>(threadIdx.x) / kGroup),
          thread(static_cast<int>(threadIdx.x) % kGroup),
          first(index * kLines) {
      const int left = memory.lines() - first;
      count = (left < kLines ? left : kLines) * kPoints;
    }
    __device__ __forceinline__ bool has_word(int round) const {
      return thread + round * kGroup < count / kValues;
    }
  };

  static __device__ __forceinline__ int slot(int i) {
    return kPitch == kPoints ? i : i / kPoints * kPitch + i % kPoints;
  }
  /// The slot of a thread's r-th word. It is a constant away from the slot of its first word if rounds are
  /// whole lines.
  static __device__ __forceinline__ int slot_of_word(int thread, int r) {
    constexpr int kRound = kGroup * kValues;
    if constexpr (kRound % kPoints == 0) return slot(thread * kValues) + r * (kRound / kPoints * kPitch);
    return slot((thread + r * kGroup) * kValues);
  }
  /// The same memory that exchanges use for the lines of a group, so groups need not wait for each other.
  template <class Vector>
  static __device__ __forceinline__ Vector* group_memory(void* shared, int group) {
    constexpr int kBytes = kLines * Line::kPitch * value_bytes(Line::kSingle);
    return reinterpret_cast<Vector*>(static_cast<unsigned char*>(shared) +
                                     (Line::kWithinWarp ? group * kBytes : 0));
  }
  static __device__ __forceinline__ bool words(const void* a, const void* b) {
    return kWhole &&
           (reinterpret_cast<unsigned long long>(a) | reinterpret_cast<unsigned long long>(b)) % kCopyBytes ==
               0;
  }
};

}  // namespace sfft::device
