// FFTs of lines whose points lie in the registers of a group of threads, which exchange them through shared
// memory in Stockham order: the kernel of Nukada and Matsuoka (SC 2009), with every number a constant.
//
// Why not cuda/block_fft.cuh, the library's other FFT within a block: that one is compiled with the library,
// reads its lengths and radices from a schedule in memory, keeps its points in shared memory, and serves the
// sparse plans, whose many small FFTs of any size are a part of one fused kernel. This one is compiled at run
// time for one length. Its points stay in registers, its addresses are constants, and a plan waits up to
// seconds for it: worth it only where a dense transform of one size is all there is to do. Both call the same
// butterflies (kernels/common/butterfly.hpp).
//
// K is the generated kernel: K::step, a constant (plan/step.hpp), K::Real, float or double, and K::Element,
// the type of real samples.
#pragma once

#include "kernels/common/butterfly.hpp"
#include "kernels/dense/tuned/plan/shared_layout.hpp"

namespace sfft::device {

using namespace detail::tuned;  // NOLINT: the vocabulary of steps and policies

template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
  Real re, im;
};

/// The FFTs of a kernel. kBack: the way back of a convolution, with the same radices in reverse order.
template <class K, bool kBack = false>
struct Line {
  using Real = typename K::Real;
  static constexpr bool kSingle = sizeof(Real) == 4;
  static constexpr int kLength = K::step.policy.length();
  static constexpr int kPasses = static_cast<int>(K::step.policy.radices.size());
  static constexpr int kThreads = K::step.policy.threads_per_transform;
  static constexpr int kTransforms = K::step.policy.transforms_per_block;
  static constexpr int kPad = K::step.policy.pad, kPadInterval = K::step.policy.pad_interval;
  static constexpr int kPitch = transform_pitch(K::step, kSingle);
  static constexpr bool kInterleaved = K::step.policy.interleaved_shared;
  static constexpr bool kHalfShared = K::step.policy.half_shared;
  static constexpr bool kWithinWarp = K::step.within_warp();
  static constexpr bool kLoadInterleaved = K::step.load_interleaved;
  static constexpr bool kStoreInterleaved = K::step.store_interleaved;
  static constexpr Twiddles kTwiddles = K::step.policy.twiddles;
  static constexpr int kRows = K::step.rows;  ///< not 0: two dimensions, columns first
  /// A DFT of as many dimensions as there are radices, which passes compute in place without twiddle factors
  /// (Burrus and Eschenbacher 1981).
  static constexpr bool kTwiddleFree = K::step.twiddle_free();

  static constexpr int radix(int pass) {
    constexpr IntList kRadices = kBack ? K::step.policy.radices.reversed() : K::step.policy.radices;
    return kRadices[static_cast<unsigned>(pass)];
  }
  /// Product of the radices before a pass: the distance of its outputs.
  static constexpr int before(int pass) {
    int product = 1;
    for (int i = 0; i < pass; ++i) product *= radix(i);
    return product;
  }
  /// Of a DFT without twiddle factors: slots between neighbours of a dimension.
  static constexpr int grid_stride(int dimension) {
    constexpr IntList kStrides = grid_strides(K::step.policy.radices, K::step.conflict_free(), kSingle);
    return kStrides[static_cast<unsigned>(dimension)];
  }
};

/// What a thread has to do with a tile.
struct Seat {
  int thread, line;  ///< within the transform; within the tile
};

template <class Line>
__device__ __forceinline__ Seat seat(int id, bool interleaved) {
  return interleaved ? Seat{id / Line::kTransforms, id % Line::kTransforms}
                     : Seat{id % Line::kThreads, id / Line::kThreads};
}

/// The slot of shared memory of a position, its padding included.
template <class Line>
__device__ __forceinline__ int slot_of(int position, int line) {
  return Line::kInterleaved ? position * (Line::kTransforms + Line::kPad) + line
                            : line * Line::kPitch + position;
}

/// The slot of position base + add of a line. Padding distributes strided accesses over the banks
/// (the paper's section 3.3); where it falls on `add` alone, a constant, it costs no arithmetic. `aligned`:
/// base is known to be a multiple of kPadInterval.
template <class Line>
__device__ __forceinline__ int slot(int base, int add, int line, bool aligned = false) {
  int position = base + add;
  if constexpr (Line::kPadInterval > 0) {
    if (aligned || add % Line::kPadInterval == 0) {
      position += base / Line::kPadInterval + add / Line::kPadInterval;
    } else {
      position += position / Line::kPadInterval;
    }
  }
  return slot_of<Line>(position, line);
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
  if constexpr (Line::kWithinWarp) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

/// One pass: butterflies of radix R over points M apart; a thread does kRounds of them.
template <class Line, int I>
struct Pass {
  static constexpr int R = Line::radix(I);
  static constexpr int kBefore = Line::before(I);
  static constexpr int M = Line::kLength / R;
  static constexpr int kRounds = (M + Line::kThreads - 1) / Line::kThreads;
  using Real = typename Line::Real;

  /// Of two dimensions the second one's passes work on rows, and the first one's on columns, as many as a row
  /// has points, which lie beside each other.
  static constexpr bool kOfRows = Line::kRows > 0 && kBefore >= Line::kRows;
  static constexpr int kRow = kOfRows ? Line::kLength / Line::kRows : Line::kLength;
  static constexpr int kRowM = kRow / R;  ///< butterflies of a row, and the distance of their inputs
  static constexpr int kBeside = Line::kRows > 0 && !kOfRows ? Line::kLength / Line::kRows : 1;
  static constexpr int kOwnBefore = kOfRows ? kBefore / Line::kRows : kBefore;  ///< of the dimension
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
  static constexpr bool kAlignedOutput = kOutputs == 1 && kRow == Line::kLength && Line::kPadInterval > 0 &&
                                         R % (Line::kPadInterval > 0 ? Line::kPadInterval : 1) == 0;

  /// Of a grid: the butterfly's coordinates in the dimensions before, the first one fastest, then those in
  /// the dimensions behind, which lie without gaps, the last one fastest.
  static __device__ __forceinline__ int grid_slot(int thread, int round, int k, int line) {
    int rest = first(thread, round), position = k * Line::grid_stride(I);
#pragma unroll
    for (int d = 0; d < I; ++d) {
      position += rest % Line::radix(d) * Line::grid_stride(d);
      rest /= Line::radix(d);
    }
    return slot_of<Line>(position + rest, line);
  }
  /// The slots from which input k of a butterfly is loaded, and to which output k is stored.
  static __device__ __forceinline__ int input_slot(int thread, int round, int k, int line) {
    if constexpr (Line::kTwiddleFree) return grid_slot(thread, round, k, line);
    return slot<Line>(first(thread, round), k * kRowM, line);
  }
  static __device__ __forceinline__ int output_slot(int thread, int round, int k, int line) {
    if constexpr (Line::kTwiddleFree) return grid_slot(thread, round, k, line);
    return slot<Line>(first_output(thread, round), k * kOutputs, line, kAlignedOutput);
  }

  /// x_k *= w^k with w = exp(−2πi q/(kOwnBefore R)), q the butterfly's position in its group.
  static __device__ __forceinline__ void apply_twiddles(Real* re, Real* im, int thread, int round,
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
      apply_twiddles(r, i, thread, b, roots);
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

/// Between the passes of rows that lie within one warp each, none of the block.
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

/// Whoever read the memory before must be done (`kGuard`: not known to be).
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

/// The FFT: registers hold the inputs of the first pass, then the outputs of the last one, which has the same
/// positions for every thread as its inputs (input() of radix R_last).
template <class Line, bool kGuard, int I = 0>
__device__ __forceinline__ void transform(typename Line::Real* re, typename Line::Real* im, void* shared,
                                          const Seat& load, const Seat& store,
                                          const Complex<typename Line::Real>* __restrict__ roots) {
  Pass<Line, I>::compute(re, im, (I == 0 ? load : store).thread, roots);
  if constexpr (I + 1 < Line::kPasses) {
    // In place a thread writes where it has read.
    exchange<Line, I, I + 1, I == 0 ? kGuard : !Line::kTwiddleFree || Line::kHalfShared>(
        re, im, shared, I == 0 ? load : store, store);
    transform<Line, kGuard, I + 1>(re, im, shared, load, store, roots);
  }
}

/// Of a grid, from the outputs of transform(): its dimensions once more, the last one first.
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
