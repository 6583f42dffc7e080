// SPDX-License-Identifier: Apache-2.0
// Moves lines through slots of shared memory that the host computed (run/bank_slots.hpp), so that no bank
// conflicts occur.
#pragma once

#include "kernels/dense/tuned/device/tile.cuh"

namespace sfft::device {

/// The byte addresses in shared memory that a thread accesses one after the other. They come from a table, in
/// words of four.
template <int kCount>
class SharedSlots {
  static constexpr int kWords = (kCount + 3) / 4;

 public:
  __device__ __forceinline__ SharedSlots(const void* table, int thread) {
    const auto* words = static_cast<const uint4*>(table) + thread * kWords;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      const uint4 four = words[w];
      at_[4 * w] = four.x;
      at_[4 * w + 1] = four.y;
      at_[4 * w + 2] = four.z;
      at_[4 * w + 3] = four.w;
    }
  }
  template <class Value>
  __device__ __forceinline__ Value& of(void* shared, int i) const {
    return *reinterpret_cast<Value*>(static_cast<unsigned char*>(shared) + at_[i]);
  }

 private:
  unsigned at_[kWords > 0 ? 4 * kWords : 1];
};

/// Reads and writes the elements of a line in the order of memory. All threads of the block take part.
template <class K>
class PermutedLine {
  using Value = typename Tile<K>::Value;
  static constexpr int kBlock = Tile<K>::kBlock, kPoints = K::step.points;
  static constexpr int kSteps = (kPoints + kBlock - 1) / kBlock;

 public:
  static __device__ __forceinline__ void read(const Tile<K>& memory, const StepTables& tables, void* shared) {
    const SharedSlots<kSteps> slots(tables.store, static_cast<int>(threadIdx.x));
    Value line[kSteps];
    each([&](int s, int first, int add) { line[s] = memory.load(0, first, add); });
    each([&](int s, int, int) { slots.template of<Value>(shared, s) = line[s]; });
  }
  static __device__ __forceinline__ void write(const Tile<K>& memory, const StepTables& tables,
                                               void* shared) {
    const SharedSlots<kSteps> slots(tables.load, static_cast<int>(threadIdx.x));
    each(
        [&](int s, int first, int add) { memory.store(0, first, slots.template of<Value>(shared, s), add); });
  }

 private:
  /// Calls action(step, first, add) for a thread's elements first + add.
  template <class Action>
  static __device__ __forceinline__ void each(const Action& action) {
    const int id = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int s = 0; s < kSteps; ++s) {
      if ((s + 1) * kBlock <= kPoints || id + s * kBlock < kPoints) action(s, id, s * kBlock);
    }
  }
};

}  // namespace sfft::device
