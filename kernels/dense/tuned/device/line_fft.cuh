// SPDX-License-Identifier: Apache-2.0
// FFTs of lines whose points lie in the registers of a group of threads. The threads exchange points through
// shared memory in Stockham order. This is the kernel of Nukada and Matsuoka (SC 2009), with every number a
// constant.
//
// Why not kernels/cuda/small_fft/block_fft.cuh, the library's other FFT within a block? That one is compiled
// with the library, reads its lengths and radices from a schedule in memory, and keeps its points in shared
// memory. It serves the sparse plans, where many small FFTs of any size are a part of one fused kernel. This
// one is compiled at run time for one length. Its points stay in registers and its addresses are constants,
// but a plan may wait seconds for the compiler. That pays only if one dense transform size is the whole job.
// Both call the same butterflies (kernels/base/radix/butterfly.hpp).
#pragma once

#include "kernels/dense/tuned/device/pass.cuh"

namespace sfft::device {

/// Waits for the threads of a line. Lines that lie within one warp need no block-wide barrier.
template <class Line>
__device__ __forceinline__ void line_barrier() {
  if constexpr (Line::kWithinWarp) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

/// Registers that the passes of a line need, counted in points.
template <class Line, int I = Line::kPasses - 1>
constexpr int registers_of() {
  constexpr int own = Pass<Line, I>::kRounds * Pass<Line, I>::R;
  if constexpr (I == 0) {
    return own;
  } else {
    constexpr int rest = registers_of<Line, I - 1>();
    return own > rest ? own : rest;
  }
}

/// The barrier between two passes. Passes over rows that each lie within one warp need no block-wide barrier.
template <class Line, int I, int J>
__device__ __forceinline__ void exchange_barrier() {
  using P = Pass<Line, I>;
  constexpr int kThreadsOfRow = P::kRowM;
  if constexpr (P::kOfRows && kThreadsOfRow == Pass<Line, J>::kRowM && 32 % kThreadsOfRow == 0 &&
                Line::kThreads % kThreadsOfRow == 0 && !Line::kLoadInterleaved && !Line::kStoreInterleaved) {
    __syncwarp();
  } else {
    line_barrier<Line>();
  }
}

/// Moves values from the outputs of pass I to the inputs of pass J, and possibly to another seat. Get and Set
/// access one part of a value, or the whole value.
template <class Line, int I, int J, class T, class Get, class Set>
__device__ __forceinline__ void swap_through(T* shared, const Seat& from, const Seat& to, const Get& get,
                                             const Set& set) {
  using P = Pass<Line, I>;
#pragma unroll
  for (int b = 0; b < P::kRounds; ++b) {
    if (!P::has(from.thread, b)) break;
#pragma unroll
    for (int k = 0; k < P::R; ++k) shared[P::output_slot(from.thread, b, k, from.line)] = get(b * P::R + k);
  }
  exchange_barrier<Line, I, J>();
  using Q = Pass<Line, J>;
#pragma unroll
  for (int b = 0; b < Q::kRounds; ++b) {
    if (!Q::has(to.thread, b)) break;
#pragma unroll
    for (int k = 0; k < Q::R; ++k) set(b * Q::R + k, shared[Q::input_slot(to.thread, b, k, to.line)]);
  }
}

/// Exchanges values between pass I and pass J. `kGuard`: other threads may still be reading the shared
/// memory, so wait for them first.
template <class Line, int I, int J, bool kGuard>
__device__ __forceinline__ void exchange(typename Line::Real* re, typename Line::Real* im, void* shared,
                                         const Seat& from, const Seat& to) {
  using Real = typename Line::Real;
  if constexpr (kGuard) exchange_barrier<Line, I, J>();
  if constexpr (Line::kHalfShared) {
    auto* half = static_cast<Real*>(shared);
    swap_through<Line, I, J>(
        half, from, to, [&](int i) { return re[i]; }, [&](int i, Real x) { re[i] = x; });
    exchange_barrier<Line, I, J>();
    swap_through<Line, I, J>(
        half, from, to, [&](int i) { return im[i]; }, [&](int i, Real x) { im[i] = x; });
  } else {
    swap_through<Line, I, J>(
        static_cast<Complex<Real>*>(shared), from, to,
        [&](int i) {
          return Complex<Real>{re[i], im[i]};
        },
        [&](int i, const Complex<Real>& z) {
          re[i] = z.re;
          im[i] = z.im;
        });
  }
}

/// The FFT. On entry, registers hold the inputs of the first pass; on return, the outputs of the last pass. A
/// thread's outputs have the positions that its inputs would have in a pass of radix R_last (input()).
template <class Line, bool kGuard, int I = 0>
__device__ __forceinline__ void transform(typename Line::Real* re, typename Line::Real* im, void* shared,
                                          const Seat& load, const Seat& store,
                                          const Complex<typename Line::Real>* __restrict__ roots) {
  Pass<Line, I>::compute(re, im, (I == 0 ? load : store).thread, roots);
  if constexpr (I + 1 < Line::kPasses) {
    // In-place passes write where the same thread has read.
    exchange<Line, I, I + 1, I == 0 ? kGuard : !Line::kTwiddleFree || Line::kHalfShared>(
        re, im, shared, I == 0 ? load : store, store);
    transform<Line, kGuard, I + 1>(re, im, shared, load, store, roots);
  }
}

/// For a grid: continues from the outputs of transform(), and transforms its dimensions a second time, the
/// last one first.
template <class Line, int I = Line::kPasses - 1>
__device__ __forceinline__ void transform_back(typename Line::Real* re, typename Line::Real* im, void* shared,
                                               const Seat& own) {
  Pass<Line, I>::compute(re, im, own.thread, nullptr);
  if constexpr (I > 0) {
    exchange<Line, I, I - 1, Line::kHalfShared>(re, im, shared, own, own);
    transform_back<Line, I - 1>(re, im, shared, own);
  }
}

}  // namespace sfft::device
