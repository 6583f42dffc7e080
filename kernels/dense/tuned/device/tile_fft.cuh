// SPDX-License-Identifier: Apache-2.0
// The work on one tile: read it, transform it, and write it.
#pragma once

#include "kernels/dense/tuned/device/packed_tile.cuh"
#include "kernels/dense/tuned/device/shared_slots.cuh"
#include "kernels/dense/tuned/device/step_twiddles.cuh"
#include "kernels/dense/tuned/device/tile_stage.cuh"

namespace sfft::device {

template <class K>
class TileFft {
  using Line = device::Line<K>;
  using Back = device::Line<K, true>;
  using Real = typename Line::Real;
  using Value = Complex<Real>;
  using Stage = TileStage<K>;
  using First = Pass<Line, 0>;
  using Last = Pass<Line, Line::kPasses - 1>;
  /// End is the pass whose outputs are the results. A convolution with twiddle factors ends with the passes
  /// of the inverse FFT.
  static constexpr bool kComesBack = K::step.method != Method::plain && !Line::kTwiddleFree;
  using End = Pass<device::Line<K, kComesBack>, Line::kTwiddleFree ? 0 : Line::kPasses - 1>;
  static constexpr int kPoints = K::step.points;
  static constexpr bool kStageIn = Stage::kIn, kStageOut = Stage::kOut;
  static constexpr bool kPackedIn = K::step.packs(K::step.in), kPackedOut = K::step.packs(K::step.out);
  static constexpr int kHeld = First::kRounds * First::R;  ///< inputs, or outputs, per thread

 public:
  static __device__ __forceinline__ void run(const Arguments& a, unsigned tile, void* shared) {
    const StepTables& tables = a.tables;
    const Tile<K> memory(a, tile);
    const auto* roots = static_cast<const Value*>(tables.roots);
    const Seat from = seat_at(Line::kLoadInterleaved || K::step.interleaves_threads()),
               to = seat_at(Line::kStoreInterleaved || K::step.interleaves_threads());
    Real re[registers_of<Line>()], im[registers_of<Line>()];
    if constexpr (kPackedIn) {
      PackedTile<K>::read(memory, shared);
      PackedTile<K>::barrier();
    } else if constexpr (kStageIn) {
      Stage::read(memory, tables, shared);
      __syncthreads();
    }
    read(memory, tables, shared, from, re, im);
    if constexpr (K::step.policy.prefetch_distance > 0) {
      if (tile + a.prefetch_distance < a.tiles) Tile<K>(a, tile + a.prefetch_distance).prefetch();
    }
    if constexpr (K::step.method == Method::plain) {
      leave_stage();
      transform<Line, kStageIn>(re, im, shared, from, to, roots);
      if constexpr (K::step.twiddle.modulus > 0) StepTwiddles<K>::apply(memory, tables, to, re, im);
      write(memory, tables, shared, to, re, im, Value{0, 0});
    } else {
      convolve(memory, tables, shared, from, to, re, im);
    }
  }

  /// Processes a block's tiles one after the other, and reads the next tile from memory while it transforms
  /// the current one.
  static __device__ __forceinline__ void run_double_buffered(const Arguments& a, void* shared) {
    static_assert(K::step.method == Method::plain && K::step.twiddle.modulus == 0 && !kStageIn && !kStageOut);
    void* const stage = static_cast<unsigned char*>(shared) + exchange_bytes(K::step, Line::kSingle);
    unsigned tile = blockIdx.x;
    Stage::fetch(Tile<K>(a, tile), stage);
#pragma unroll 1
    for (; tile < a.tiles; tile += gridDim.x) {
      const Tile<K> memory(a, tile);
      const Seat from = seat_at(Line::kLoadInterleaved), to = seat_at(Line::kStoreInterleaved);
      Real re[registers_of<Line>()], im[registers_of<Line>()];
      await_copies();
      __syncthreads();
      read(memory, a.tables, stage, from, re, im);
      __syncthreads();
      if (tile + gridDim.x < a.tiles) Stage::fetch(Tile<K>(a, tile + gridDim.x), stage);
      transform<Line, false>(re, im, shared, from, to, static_cast<const Value*>(a.tables.roots));
      const Tile<K> results(a, forgotten(tile));  // constructed again, to leave registers to the transform
      write(results, a.tables, shared, seat_at(Line::kStoreInterleaved), re, im, Value{0, 0});
    }
  }

 private:
  static __device__ __forceinline__ Seat seat_at(bool interleaved) {
    const unsigned id = K::step.policy.double_buffered ? forgotten(threadIdx.x) : threadIdx.x;
    return seat<Line>(static_cast<int>(id), interleaved);
  }

  /// Waits until the staged lines have been read. Lines within one warp do not wait for other warps in
  /// exchanges, but their exchange memory overlaps the staged lines of other warps.
  static __device__ __forceinline__ void leave_stage() {
    if constexpr (kStageIn && !kPackedIn && Line::kWithinWarp) __syncthreads();
  }
  /// Element j of a staged line.
  static __device__ __forceinline__ Value staged_value(const Tile<K>& memory, void* shared, int j, int line) {
    if constexpr (kPackedIn)
      return memory.received(PackedTile<K>::template at<typename Tile<K>::InVector>(shared, j, line));
    return static_cast<const Value*>(shared)[Stage::index(j, line)];
  }

  /// Calls action(first, add, i) for the i-th input of the first pass that a thread reads from memory.
  template <class Action>
  static __device__ __forceinline__ void each_input(const Seat& own, const Action& action) {
#pragma unroll
    for (int b = 0; b < First::kRounds; ++b) {
      if (!First::has(own.thread, b)) break;
#pragma unroll
      for (int k = 0; k < First::R; ++k) action(own.thread, First::add(b, k), b * First::R + k);
    }
  }
  /// Reads lines of block16. If any value is out of the ordinary, it reads them again by the exact rules.
  static __device__ __forceinline__ void read_blocks(const Tile<K>& memory, const Seat& own, Real* re,
                                                     Real* im) {
    const int line = memory.readable(own.line);
    OrdinaryBlocks seen;
    each_input(own, [&](int first, int add, int i) {
      const Value z = memory.load_ordinary(line, first, add, seen);
      re[i] = z.re;
      im[i] = z.im;
    });
    if (seen.all()) return;
    each_input(own, [&](int first, int add, int i) {
      const Value z = memory.load(line, first, add);
      re[i] = z.re;
      im[i] = z.im;
    });
  }

  /// Reads the inputs of the first pass and prepares them for the method.
  static __device__ __forceinline__ void read(const Tile<K>& memory, const StepTables& tables, void* shared,
                                              const Seat& own, Real* re, Real* im) {
    if constexpr (K::step.in.storage == dense::Storage::block16 && K::step.method == Method::plain &&
                  !kStageIn)
      return read_blocks(memory, own, re, im);
    const auto* chirp = static_cast<const Value*>(tables.chirp);
    const auto* gather = static_cast<const int*>(tables.gather);
    const SharedSlots<K::step.conflict_free() ? kHeld : 0> slots(tables.gather, own.thread);
#pragma unroll
    for (int b = 0; b < First::kRounds; ++b) {
      if (!First::has(own.thread, b)) break;
#pragma unroll
      for (int k = 0; k < First::R; ++k) {
        const int first = own.thread, add = First::add(b, k);
        Value z{0, 0};
        if (k * First::M < kPoints && (K::step.method != Method::bluestein || first + add < kPoints)) {
          if constexpr (K::step.policy.double_buffered) {
            using Samples = typename Tile<K>::Samples;
            z = memory.value(
                static_cast<const Samples*>(shared)[(first + add) * Line::kTransforms + own.line]);
          } else if constexpr (K::step.conflict_free()) {
            z = slots.template of<Value>(shared, b * First::R + k);
          } else if constexpr (kStageIn) {
            const int element = K::step.method == Method::rader ? (gather + first)[add] : first + add;
            z = staged_value(memory, shared, element, own.line);
          } else if constexpr (K::step.method == Method::rader) {
            z = memory.load(memory.readable(own.line), (gather + first)[add]);
          } else {
            z = memory.load(memory.readable(own.line), first, add);
          }
        }
        re[b * First::R + k] = z.re;
        im[b * First::R + k] = z.im;
      }
    }
    if constexpr (K::step.method == Method::bluestein) {
      each_output<First, kPoints>(own, re, im, [&](int first, int add, Value& z) {
        if (first + add < kPoints) z = times(z, (chirp + first)[add]);
      });
    }
  }

  /// Calls action(first, add, z) for the values z that a thread holds at positions first + add, where `add`
  /// is a constant. It skips positions that are always at kCount or above. The inputs of the first pass and
  /// the outputs of the last one have the same positions.
  template <class P, int kCount, class Action>
  static __device__ __forceinline__ void each_output(const Seat& own, Real* re, Real* im,
                                                     const Action& action) {
#pragma unroll
    for (int b = 0; b < P::kRounds; ++b) {
      if (!P::has(own.thread, b)) break;
#pragma unroll
      for (int k = 0; k < P::R; ++k) {
        if (k * P::M >= kCount) break;
        Value z{re[b * P::R + k], im[b * P::R + k]};
        action(own.thread, P::add(b, k), z);
        re[b * P::R + k] = z.re;
        im[b * P::R + k] = z.im;
      }
    }
  }

  /// Bluestein (1970) convolves x_j c_j with 1/c, where c_j = exp(−πi j²/n). Rader (1968) computes a cyclic
  /// convolution of n − 1 points in the order of powers of a generator, and adds x_0 separately.
  static __device__ __forceinline__ void convolve(const Tile<K>& memory, const StepTables& tables,
                                                  void* shared, const Seat& from, const Seat& to, Real* re,
                                                  Real* im) {
    const auto* kernel = static_cast<const Value*>(tables.kernel);
    Value first{0, 0}, sum{0, 0};
    if constexpr (K::step.method == Method::rader) {
      first = kStageIn ? staged_value(memory, shared, 0, to.line) : memory.load(memory.readable(to.line), 0);
    }
    leave_stage();
    transform<Line, kStageIn>(re, im, shared, from, to, static_cast<const Value*>(tables.roots));
    if constexpr (K::step.method == Method::rader) sum = {first.re + re[0], first.im + im[0]};
    each_output<Last, Line::kLength>(to, re, im, [&](int at, int add, Value& z) {
      z = times(z, (kernel + at)[add]);
      z = {z.im, z.re};
    });
    if constexpr (Line::kTwiddleFree) {
      transform_back<Line>(re, im, shared, to);
    } else {  // the same radices in reverse order, so outputs become inputs
      transform<Back, true>(re, im, shared, to, to, static_cast<const Value*>(tables.roots));
    }
    const auto* chirp = static_cast<const Value*>(tables.chirp);
    each_output<End, kPoints>(to, re, im, [&](int at, int add, Value& z) {
      const int position = at + add;
      z = {z.im, z.re};
      if constexpr (K::step.method == Method::bluestein) {
        if (position < kPoints) z = times(z, (chirp + at)[add]);
        if (K::step.twiddle.modulus > 0 && position < kPoints)
          z = times(z, StepTwiddles<K>::root(tables, static_cast<unsigned long long>(
                                                         memory.twiddle_index(memory.readable(to.line))) *
                                                         static_cast<unsigned>(position)));
      } else {
        z = {z.re + first.re, z.im + first.im};
      }
    });
    write(memory, tables, shared, to, re, im, sum);
  }

  /// Writes the results. `sum` is Rader's X[0].
  static __device__ __forceinline__ void write(const Tile<K>& memory, const StepTables& tables, void* shared,
                                               const Seat& own, const Real* re, const Real* im,
                                               const Value& sum) {
    auto* values = static_cast<Value*>(shared);
    const auto* scatter = static_cast<const int*>(tables.scatter);
    const SharedSlots<K::step.conflict_free() ? kHeld : 0> slots(tables.scatter, own.thread);
    const auto put = [&](int first, const Value& z, int add = 0) {
      if constexpr (kPackedOut) {
        PackedTile<K>::template at<typename Tile<K>::OutVector>(shared, first + add, own.line) =
            memory.finished(z);
      } else if constexpr (kStageOut) {
        values[Stage::index(first + add, own.line)] = z;
      } else {
        memory.store(own.line, first, z, add);
      }
    };
    if constexpr (kPackedOut) {
      PackedTile<K>::barrier();
    } else if constexpr (kStageOut) {
      __syncthreads();
    } else if (!memory.has(own.line)) {
      return;
    }
    if (K::step.method == Method::rader && own.thread == 0) put(0, sum);
#pragma unroll
    for (int b = 0; b < End::kRounds; ++b) {
      if (!End::has(own.thread, b)) break;
#pragma unroll
      for (int k = 0; k < End::R; ++k) {
        const int first = End::base(own.thread, b), add = End::add(b, k);
        if (k * End::M >= kPoints || (K::step.method == Method::bluestein && first + add >= kPoints))
          continue;
        const Value z{re[b * End::R + k], im[b * End::R + k]};
        if constexpr (K::step.conflict_free()) {
          slots.template of<Value>(shared, b * End::R + k) = z;
        } else if constexpr (K::step.method == Method::rader) {
          put((scatter + first)[add], z);
        } else {
          put(first, z, add);
        }
      }
    }
    if constexpr (kPackedOut) {
      PackedTile<K>::barrier();
      PackedTile<K>::write(memory, shared);
    } else if constexpr (kStageOut) {
      __syncthreads();
      Stage::write(memory, tables, shared);
    }
  }
};

}  // namespace sfft::device
