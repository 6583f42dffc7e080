// SPDX-License-Identifier: Apache-2.0
// FFTs of lines whose points are spread over the registers of a group of threads and exchanged through shared
// memory in Stockham order: the kernel of Nukada and Matsuoka (SC 2009), with every number a constant.
//
// A Line, generated for a size (source.cpp), says
//   Real                       float or double
//   kLength, Radix             the points n of a line and its factors, first pass first
//   kThreads, kLines           threads of a line, lines of a tile
//   kPositionMajor, kPadEvery, kPad, kSplit   how a tile lies in shared memory
//   kLoadByLine, kStoreByLine  whether neighbouring threads hold neighbouring lines, not points, before and
//                              after the first exchange
//   kTwiddles                  twiddle factors as powers of one or two roots, or all from the table
//   kExtent                    not 0: two dimensions, of so many rows, columns first
//   kTwiddleFree               none at all: a DFT of as many dimensions as there are factors, which passes
//                              compute in place (Burrus and Eschenbacher 1981); Strides are the places
//                              between neighbours of a dimension
#pragma once

#include "kernels/common/butterfly.hpp"

namespace sfft::device {

enum class Twiddles { one_root, two_roots, table };

template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
  Real re, im;
};

template <int... R>
struct Radices {
  static constexpr int kCount = sizeof...(R);
  static constexpr int at(int i) {
    constexpr int all[] = {R...};
    return all[i];
  }
  /// Product of the first i: the distance of a pass's outputs.
  static constexpr int before(int i) {
    int product = 1;
    for (int k = 0; k < i; ++k) product *= at(k);
    return product;
  }
};

/// What a thread has to do with a tile.
struct Seat {
  int thread, line;  ///< within the line; within the tile
};

template <class Line>
__device__ __forceinline__ Seat seat(int id, bool by_line) {
  return by_line ? Seat{id / Line::kLines, id % Line::kLines}
                 : Seat{id % Line::kThreads, id / Line::kThreads};
}

/// Where a position lies in shared memory, its padding included.
template <class Line>
__device__ __forceinline__ int place_of(int position, int line) {
  return Line::kPositionMajor ? position * (Line::kLines + Line::kPad) + line
                              : line * Line::kPitch + position;
}

/// Where position base + add of a line lies in shared memory. Padding spreads strided accesses over the banks
/// (the paper's section 3.3); where it falls on `add` alone, a constant, it costs no arithmetic. `aligned`:
/// base is known to be a multiple of kPadEvery.
template <class Line>
__device__ __forceinline__ int place(int base, int add, int line, bool aligned = false) {
  int position = base + add;
  if constexpr (Line::kPadEvery > 0) {
    if (aligned || add % Line::kPadEvery == 0) {
      position += base / Line::kPadEvery + add / Line::kPadEvery;
    } else {
      position += position / Line::kPadEvery;
    }
  }
  return place_of<Line>(position, line);
}

/// Powers w^k, k < R, of a root of unity as products. The k-th power of a rounded root is k times as wrong as
/// the root; of two roots, w and w^s with s about √R, no product is more than s + R/s times as wrong.
template <class Line, int R>
struct Power {
  static constexpr int stride() {
    if (Line::kTwiddles == Twiddles::one_root) return R;
    int stride = 1;
    while (stride * stride < R) stride *= 2;
    return stride;
  }
  /// w^k = w^part(k) w^(k − part(k)); 0: w^k is a root.
  static __device__ constexpr int part(int k) {
    constexpr int kStride = stride();
    if (k == 1 || k == kStride) return 0;
    if (k < kStride) return k / 2;
    return k % kStride == 0 ? kStride : k / kStride * kStride;
  }
};

/// Lines that lie within one warp need no barrier of the block.
template <class Line>
__device__ __forceinline__ void line_barrier() {
  if constexpr (Line::kWarp) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

/// One pass: butterflies of radix R over points M apart; a thread does kRounds of them.
template <class Line, int I>
struct Pass {
  static constexpr int R = Line::Radix::at(I);
  static constexpr int kBefore = Line::Radix::before(I);
  static constexpr int M = Line::kLength / R;
  static constexpr int kRounds = (M + Line::kThreads - 1) / Line::kThreads;
  using Real = typename Line::Real;

  /// Of two dimensions the second one's passes work on rows, and the first one's on columns, as many as a row
  /// has points, which lie beside each other.
  static constexpr bool kOfRows = Line::kExtent > 0 && kBefore >= Line::kExtent;
  static constexpr int kRow = kOfRows ? Line::kLength / Line::kExtent : Line::kLength;
  static constexpr int kRowM = kRow / R;  ///< butterflies of a row, and the distance of their inputs
  static constexpr int kBeside = Line::kExtent > 0 && !kOfRows ? Line::kLength / Line::kExtent : 1;
  static constexpr int kOwnBefore = kOfRows ? kBefore / Line::kExtent : kBefore;  ///< of the dimension
  static constexpr int kOutputs = kOwnBefore * kBeside;  ///< the distance of a butterfly's outputs

  static __device__ __forceinline__ bool has(int thread, int round) {
    return (M % Line::kThreads == 0) || thread + round * Line::kThreads < M;
  }
  static __device__ constexpr int position(int butterfly) {
    return kOfRows ? butterfly / kRowM * kRow + butterfly % kRowM : butterfly;
  }
  /// Butterfly `thread + round·kThreads` reads the positions first + k·kRowM …
  static __device__ __forceinline__ int first(int thread, int round) {
    return position(thread + round * Line::kThreads);
  }
  /// … and writes first_output + k·kOutputs.
  static __device__ __forceinline__ int first_output(int thread, int round) {
    int j = thread + round * Line::kThreads, row = 0;
    if constexpr (kOfRows) {
      row = j / kRowM * kRow;
      j %= kRowM;
    }
    return row + (kOutputs == 1 ? j * R : (j / kOutputs) * (kOutputs * R) + j % kOutputs);
  }
  /// The same as base + add, a constant as far as rounds lie alike.
  static constexpr bool kAlike = !kOfRows || Line::kThreads % kRowM == 0 || kRowM % Line::kThreads == 0;
  static __device__ constexpr int base(int thread, int round) {
    return position(kAlike ? thread : thread + round * Line::kThreads);
  }
  static __device__ constexpr int add(int round, int k) {
    return (kAlike ? position(round * Line::kThreads) : 0) + k * kRowM;
  }
  /// Whether a digit of `fold` carries in any sum base + add.
  static __device__ constexpr bool carries(int fold) {
    int most = 0, added = 0;
    for (int j = 0; j < (kAlike ? Line::kThreads : M); ++j) {
      if (position(j) % fold > most) most = position(j) % fold;
    }
    for (int i = 0; i < kRounds * R; ++i) {
      if (add(i / R, i % R) % fold > added) added = add(i / R, i % R) % fold;
    }
    return most + added >= fold;
  }
  static constexpr bool kAlignedOutput = kOutputs == 1 && kRow == Line::kLength && Line::kPadEvery > 0 &&
                                         R % (Line::kPadEvery > 0 ? Line::kPadEvery : 1) == 0;

  /// Of a grid: the butterfly's coordinates in the dimensions before, the first one fastest, then those in
  /// the dimensions behind, which lie without gaps, the last one fastest.
  static __device__ __forceinline__ int place_in_grid(int thread, int round, int k, int line) {
    int rest = first(thread, round), position = k * Line::Strides::at(I);
#pragma unroll
    for (int d = 0; d < I; ++d) {
      position += rest % Line::Radix::at(d) * Line::Strides::at(d);
      rest /= Line::Radix::at(d);
    }
    return place_of<Line>(position + rest, line);
  }
  /// Where input k of a butterfly is found in shared memory, and where output k goes.
  static __device__ __forceinline__ int input_place(int thread, int round, int k, int line) {
    if constexpr (Line::kTwiddleFree) return place_in_grid(thread, round, k, line);
    return place<Line>(first(thread, round), k * kRowM, line);
  }
  static __device__ __forceinline__ int output_place(int thread, int round, int k, int line) {
    if constexpr (Line::kTwiddleFree) return place_in_grid(thread, round, k, line);
    return place<Line>(first_output(thread, round), k * kOutputs, line, kAlignedOutput);
  }

  /// x_k *= w^k with w = exp(−2πi q/(kOwnBefore R)), q the butterfly's place in its group.
  static __device__ __forceinline__ void turn(Real* re, Real* im, int thread, int round,
                                              const Complex<Real>* __restrict__ roots) {
    if constexpr (kOwnBefore > 1 && !Line::kTwiddleFree) {
      const int q = (thread + round * Line::kThreads) % kOutputs / kBeside;
      constexpr int kStep = Line::kLength / (kOwnBefore * R);
      if constexpr (Line::kTwiddles != Twiddles::table) {
        Real wr[R], wi[R];
#pragma unroll
        for (int k = 1; k < R; ++k) {
          if (Power<Line, R>::part(k) != 0) continue;
          const Complex<Real> w = roots[q * k * kStep];
          wr[k] = w.re;
          wi[k] = w.im;
        }
#pragma unroll
        for (int k = 2; k < R; ++k) {
          const int part = Power<Line, R>::part(k);
          if (part == 0) continue;
          wr[k] = wr[part];
          wi[k] = wi[part];
          detail::multiply(wr[k], wi[k], wr[k - part], wi[k - part]);
        }
#pragma unroll
        for (int k = 1; k < R; ++k) detail::multiply(re[k], im[k], wr[k], wi[k]);
      } else {
        Complex<Real> w[R];
#pragma unroll
        for (int k = 1; k < R; ++k) w[k] = roots[q * k * kStep];
#pragma unroll
        for (int k = 1; k < R; ++k) detail::multiply(re[k], im[k], w[k].re, w[k].im);
      }
    }
  }

  static __device__ __forceinline__ void compute(Real* re, Real* im, int thread,
                                                 const Complex<Real>* __restrict__ roots) {
#pragma unroll
    for (int b = 0; b < kRounds; ++b) {
      if (!has(thread, b)) break;
      Real *const r = re + b * R, *const i = im + b * R;
      turn(r, i, thread, b, roots);
      detail::Butterfly<R>::template stream<Real, Real>(
          [&](int k, Real& x, Real& y) {
            x = r[k];
            y = i[k];
          },
          [&](int k, const Real& x, const Real& y) {
            r[k] = x;
            i[k] = y;
          });
    }
  }
};

/// Registers that the passes of a line need, in points.
template <class Line, int I = Line::Radix::kCount - 1>
constexpr int registers_of() {
  constexpr int own = Pass<Line, I>::kRounds * Pass<Line, I>::R;
  if constexpr (I == 0) {
    return own;
  } else {
    constexpr int rest = registers_of<Line, I - 1>();
    return own > rest ? own : rest;
  }
}

/// Between the passes of rows that lie within one warp each, none of the block.
template <class Line, int I, int J>
__device__ __forceinline__ void exchange_barrier() {
  using P = Pass<Line, I>;
  constexpr int kThreadsOfRow = P::kRowM;
  if constexpr (P::kOfRows && kThreadsOfRow == Pass<Line, J>::kRowM && 32 % kThreadsOfRow == 0 &&
                Line::kThreads % kThreadsOfRow == 0 && !Line::kLoadByLine && !Line::kStoreByLine) {
    __syncwarp();
  } else {
    line_barrier<Line>();
  }
}

/// From the outputs of pass I to the inputs of pass J, and perhaps to another seat; Get and Set reach one
/// part of a value, or the whole of it.
template <class Line, int I, int J, class T, class Get, class Set>
__device__ __forceinline__ void swap_through(T* shared, const Seat& from, const Seat& to, const Get& get,
                                             const Set& set) {
  using P = Pass<Line, I>;
#pragma unroll
  for (int b = 0; b < P::kRounds; ++b) {
    if (!P::has(from.thread, b)) break;
#pragma unroll
    for (int k = 0; k < P::R; ++k) shared[P::output_place(from.thread, b, k, from.line)] = get(b * P::R + k);
  }
  exchange_barrier<Line, I, J>();
  using Q = Pass<Line, J>;
#pragma unroll
  for (int b = 0; b < Q::kRounds; ++b) {
    if (!Q::has(to.thread, b)) break;
#pragma unroll
    for (int k = 0; k < Q::R; ++k) set(b * Q::R + k, shared[Q::input_place(to.thread, b, k, to.line)]);
  }
}

/// Whoever read the memory before must be done (`kGuard`: not known to be).
template <class Line, int I, int J, bool kGuard>
__device__ __forceinline__ void exchange(typename Line::Real* re, typename Line::Real* im, void* shared,
                                         const Seat& from, const Seat& to) {
  using Real = typename Line::Real;
  if constexpr (kGuard) exchange_barrier<Line, I, J>();
  if constexpr (Line::kSplit) {
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

/// The FFT: registers hold the inputs of the first pass, then the outputs of the last one, which has the same
/// positions for every thread as its inputs (input() of radix R_last).
template <class Line, bool kGuard, int I = 0>
__device__ __forceinline__ void transform(typename Line::Real* re, typename Line::Real* im, void* shared,
                                          const Seat& load, const Seat& store,
                                          const Complex<typename Line::Real>* __restrict__ roots) {
  Pass<Line, I>::compute(re, im, (I == 0 ? load : store).thread, roots);
  if constexpr (I + 1 < Line::Radix::kCount) {
    // In place a thread writes where it has read.
    exchange<Line, I, I + 1, I == 0 ? kGuard : !Line::kTwiddleFree || Line::kSplit>(
        re, im, shared, I == 0 ? load : store, store);
    transform<Line, kGuard, I + 1>(re, im, shared, load, store, roots);
  }
}

/// Of a grid, from the outputs of transform(): its dimensions once more, the last one first.
template <class Line, int I = Line::Radix::kCount - 1>
__device__ __forceinline__ void transform_back(typename Line::Real* re, typename Line::Real* im, void* shared,
                                               const Seat& own) {
  Pass<Line, I>::compute(re, im, own.thread, nullptr);
  if constexpr (I > 0) {
    exchange<Line, I, I - 1, Line::kSplit>(re, im, shared, own, own);
    transform_back<Line, I - 1>(re, im, shared, own);
  }
}

}  // namespace sfft::device
