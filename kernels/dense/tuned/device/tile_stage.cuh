// SPDX-License-Identifier: Apache-2.0
// Stages a tile in shared memory between global memory and the passes, in the order of lines or as half
// spectra.
#pragma once

#include "kernels/dense/tuned/device/block_tile.cuh"
#include "kernels/dense/tuned/device/shared_slots.cuh"

namespace sfft::device {

template <class K>
class TileStage {
  using Line = device::Line<K>;
  using Real = typename Line::Real;
  using Value = Complex<Real>;
  static constexpr int kPoints = K::step.points, kBlock = Tile<K>::kBlock;
  static constexpr bool kHalfIn = K::step.in.form == Form::half_pairs,
                        kHalfOut = K::step.out.form == Form::half_pairs;
  static constexpr bool kBlocksOut = K::step.out.storage == dense::Storage::block16;
  /// Lines without gaps between them are staged as they lie in memory.
  static constexpr bool kFlat = !kHalfIn && !kHalfOut && K::step.mirror_rows == 0 &&
                                K::step.in.form == Form::complex && K::step.out.form == Form::complex &&
                                K::step.in.element == 1 && K::step.out.element == 1 &&
                                K::step.in.inner == kPoints && K::step.out.inner == kPoints;

 public:
  /// Whether inputs (kIn) and results (kOut) go through shared memory.
  static constexpr bool kIn = K::step.policy.staged || kHalfIn,
                        kOut = K::step.policy.staged || kHalfOut || kBlocksOut;

  /// Copy the tile from global to shared memory, and back. All threads of the block take part.
  static __device__ __forceinline__ void read(const Tile<K>& memory, const StepTables& tables, void* shared) {
    if constexpr (kHalfIn) {
      pack_real(memory, tables, shared);
    } else {
      read_lines(memory, tables, shared);
    }
  }
  static __device__ __forceinline__ void write(const Tile<K>& memory, const StepTables& tables,
                                               void* shared) {
    if constexpr (kHalfOut) {
      unpack_real(memory, tables, static_cast<const Value*>(shared));
    } else {
      write_lines(memory, tables, shared);
    }
  }

  /// The index of element j of a line. Values that become one block of integers are neighbours.
  static __device__ __forceinline__ int index(int j, int line) {
    return K::step.blocks_across() ? j * Line::kTransforms + line : line * kPoints + j;
  }

  /// Copies samples of neighbouring lines position by position, in the order of memory, word by word.
  static __device__ __forceinline__ void fetch(const Tile<K>& memory, void* stage) {
    using Samples = typename Tile<K>::Samples;
    constexpr int kWide = kCopyBytes / sizeof(Samples), kParts = Line::kTransforms / kWide;
    const int id = static_cast<int>(forgotten(threadIdx.x));
    if (memory.lines() == Line::kTransforms &&
        reinterpret_cast<unsigned long long>(memory.samples(0, 0)) % kCopyBytes == 0) {
#pragma unroll 1
      for (int i = id; i < kPoints * kParts; i += kBlock)
        copy_async<K::step.policy.loads == Loads::prefetch_l2>(
            static_cast<uint4*>(stage) + i,
            reinterpret_cast<const uint4*>(memory.samples(i % kParts * kWide, i / kParts)));
    } else {
#pragma unroll 1
      for (int i = id; i < kPoints * Line::kTransforms; i += kBlock) {
        const int line = i % Line::kTransforms;
        if (memory.has(line)) static_cast<Samples*>(stage)[i] = *memory.samples(line, i / Line::kTransforms);
      }
    }
  }

 private:
  /// Calls action(line, j) for j < kCount of every line, or of every second one. Neighbouring threads take
  /// neighbouring elements.
  template <int kCount, int kEvery, class Action>
  static __device__ __forceinline__ void each_of_lines(const Tile<K>& memory, const Action& action) {
    const int id = static_cast<int>(threadIdx.x);
    if constexpr (kCount >= 2 * kBlock) {
#pragma unroll 1
      for (int line = 0; line < memory.lines(); line += kEvery) {
#pragma unroll 4
        for (int j = id; j < kCount; j += kBlock) action(line, j);
      }
    } else {
#pragma unroll 2
      for (int i = id; i < kCount * (memory.lines() / kEvery); i += kBlock)
        action(i / kCount * kEvery, i % kCount);
    }
  }
  /// Calls action(line, j) for every point, in the order of memory.
  template <class Action>
  static __device__ __forceinline__ void each_of_tile(const Tile<K>& memory, bool interleaved,
                                                      const Action& action) {
    if (!interleaved) return each_of_lines<kPoints, 1>(memory, action);
    for (int i = static_cast<int>(threadIdx.x); i < kPoints * Line::kTransforms; i += kBlock) {
      if (memory.has(i % Line::kTransforms)) action(i % Line::kTransforms, i / Line::kTransforms);
    }
  }

  static __device__ __forceinline__ void read_lines(const Tile<K>& memory, const StepTables& tables,
                                                    void* shared) {
    auto* values = static_cast<Value*>(shared);
    if constexpr (K::step.in.storage == dense::Storage::block16) {
      OrdinaryBlocks seen;
      each_of_tile(memory, Line::kLoadInterleaved,
                   [&](int line, int j) { values[index(j, line)] = memory.load_ordinary(line, j, 0, seen); });
      if (seen.all()) return;
      each_of_tile(memory, Line::kLoadInterleaved,
                   [&](int line, int j) { values[index(j, line)] = memory.load(line, j); });
    } else if constexpr (K::step.conflict_free()) {
      PermutedLine<K>::read(memory, tables, shared);
    } else if constexpr (kFlat) {
      for (int i = static_cast<int>(threadIdx.x); i < kPoints * memory.lines(); i += kBlock)
        values[i] = memory.load(0, i);
    } else {
      each_of_tile(memory, Line::kLoadInterleaved,
                   [&](int line, int j) { values[index(j, line)] = memory.load(line, j); });
    }
  }

  static __device__ __forceinline__ void write_lines(const Tile<K>& memory, const StepTables& tables,
                                                     void* shared) {
    const auto* values = static_cast<const Value*>(shared);
    if constexpr (kBlocksOut) {
      BlockTile<K>::write(memory, values);
    } else if constexpr (K::step.conflict_free()) {
      PermutedLine<K>::write(memory, tables, shared);
    } else if constexpr (kFlat) {
      for (int i = static_cast<int>(threadIdx.x); i < kPoints * memory.lines(); i += kBlock)
        memory.store(0, i, values[i]);
    } else {
      each_of_tile(memory, Line::kStoreInterleaved,
                   [&](int line, int j) { memory.store(line, j, values[index(j, line)]); });
    }
  }

  /// Calls action(line, mirror, k) for each pair of values that a half spectrum combines: value k of a line
  /// and value n − k of its mirror. For a signal of one dimension, the mirror is the line itself.
  template <class Action>
  static __device__ __forceinline__ void each_mirrored(const Tile<K>& memory, const Action& action) {
    constexpr bool kPaired = Tile<K>::kPaired;
    each_of_lines<kPaired ? kPoints + 1 : kPoints / 2 + 1, kPaired ? 2 : 1>(
        memory, [&](int line, int k) { action(line, kPaired ? line + 1 : line, k); });
  }

  /// Z[k] = X[k] + conj Y[n−k] + i w^−k (X[k] − conj Y[n−k]), where w = exp(−πi/n) and Y is the mirror. This
  /// is twice the FFT of the pairs x[2t] + i x[2t+1]. Columns 0 and n of a real signal's spectrum mirror
  /// themselves, X[k] = conj Y[k]; what contradicts this in the input is dropped, as by numpy.fft.irfftn.
  static __device__ __forceinline__ void pack_real(const Tile<K>& memory, const StepTables& tables,
                                                   void* shared) {
    auto* values = static_cast<Value*>(shared);
    const auto* w = static_cast<const Value*>(tables.unpack_real);
    const auto put = [&](int line, int k, Value z) {
      if constexpr (K::step.swap_in) z = {z.im, z.re};
      values[index(k, line)] = z;
    };
    each_mirrored(memory, [&](int line, int mirror, int k) {
      Value x = memory.load(line, k), y = memory.load(mirror, kPoints - k);
      if (k == 0 || k == kPoints) {
        if constexpr (Tile<K>::kPaired) {
          const Real half = Real(0.5);
          const Value x2 = memory.load(mirror, k), y2 = memory.load(line, kPoints - k);
          x = {half * (x.re + x2.re), half * (x.im - x2.im)};
          y = {half * (y.re + y2.re), half * (y.im - y2.im)};
        } else {
          x.im = y.im = 0;
        }
      }
      const Value sum{x.re + y.re, x.im - y.im};
      const Value turned = times(Value{x.re - y.re, x.im + y.im}, conjugate(w[k]));
      if (k < kPoints) put(line, k, {sum.re - turned.im, sum.im + turned.re});
      if (k > 0) put(mirror, kPoints - k, {sum.re + turned.im, turned.re - sum.im});
    });
  }

  /// X[k] = (Z[k] + conj Y[n−k])/2 + w^k (Z[k] − conj Y[n−k])/2i, where w = exp(−πi/n), Z is the FFT of the
  /// pairs and Y is its mirror.
  static __device__ __forceinline__ void unpack_real(const Tile<K>& memory, const StepTables& tables,
                                                     const Value* values) {
    const auto* w = static_cast<const Value*>(tables.unpack_real);
    each_mirrored(memory, [&](int line, int mirror, int k) {
      const Value x = values[index(k == kPoints ? 0 : k, line)];
      const Value y = values[index(k == 0 ? 0 : kPoints - k, mirror)];
      const Real half = Real(0.5);
      const Value even{half * (x.re + y.re), half * (x.im - y.im)};
      const Value odd = times(Value{half * (x.im + y.im), half * (y.re - x.re)}, w[k]);
      memory.store(line, k, {even.re + odd.re, even.im + odd.im});
      // An element may be stored twice without harm, but if it were kept twice it would count twice.
      if (K::step.keep != Keep::all && memory.comes_twice(line, k)) return;
      memory.store(mirror, kPoints - k, {even.re - odd.re, odd.im - even.im});
    });
  }
};

}  // namespace sfft::device
