// SPDX-License-Identifier: Apache-2.0
// Lines that pass through places of shared memory which the host has computed (places.hpp).
#pragma once

#include "kernels/dense/tuned/step.cuh"

namespace sfft::device {

/// Byte addresses in shared memory of what a thread accesses one after the other, from a table in words of
/// four.
template <int kCount>
class Places {
  static constexpr int kWords = (kCount + 3) / 4;

 public:
  __device__ __forceinline__ Places(const void* table, int thread) {
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

/// The elements of a line in the order of memory, by all threads of its block.
template <class Step>
class PlacedLine {
  using Value = typename Tile<Step>::Value;
  static constexpr int kBlock = Tile<Step>::kBlock, kPoints = Step::kPoints;
  static constexpr int kSteps = (kPoints + kBlock - 1) / kBlock;

 public:
  static __device__ __forceinline__ void read(const Tile<Step>& memory, const StepTables& tables,
                                              void* shared) {
    const Places<kSteps> places(tables.store, static_cast<int>(threadIdx.x));
    Value line[kSteps];
    each([&](int s, int first, int add) { line[s] = memory.load(0, first, add); });
    each([&](int s, int, int) { places.template of<Value>(shared, s) = line[s]; });
  }
  static __device__ __forceinline__ void write(const Tile<Step>& memory, const StepTables& tables,
                                               void* shared) {
    const Places<kSteps> places(tables.load, static_cast<int>(threadIdx.x));
    each([&](int s, int first, int add) {
      memory.store(0, first, places.template of<Value>(shared, s), add);
    });
  }

 private:
  /// action(step, first, add) for a thread's elements first + add.
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
