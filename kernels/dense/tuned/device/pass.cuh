// SPDX-License-Identifier: Apache-2.0
// One pass of an FFT: its butterflies, their twiddle factors, and the slots of inputs and outputs.
#pragma once

#include "kernels/base/radix/butterfly.hpp"
#include "kernels/dense/tuned/device/fused_butterfly.cuh"
#include "kernels/dense/tuned/device/line.cuh"

namespace sfft::device {

/// Computes the powers w^k, k < R, of a root of unity as products. The k-th power of a rounded root has k
/// times the root's error. With two roots, w and w^s where s is about √R, no product has more than s + R/s
/// times that error.
template <class Line, int R>
struct Power {
  static constexpr int stride() {
    if (Line::kTwiddles == Twiddles::one_root) return R;
    int stride = 1;
    while (stride * stride < R) stride *= 2;
    return stride;
  }
  /// w^k = w^part(k) w^(k − part(k)). A result of 0 means that w^k is one of the roots.
  static __device__ constexpr int part(int k) {
    constexpr int kStride = stride();
    if (k == 1 || k == kStride) return 0;
    if (k < kStride) return k / 2;
    return k % kStride == 0 ? kStride : k / kStride * kStride;
  }
};

/// One pass: butterflies of radix R over points M apart. Each thread computes kRounds of them.
template <class Line, int I>
struct Pass {
  static constexpr int R = Line::radix(I);
  static constexpr int kBefore = Line::before(I);
  static constexpr int M = Line::kLength / R;
  static constexpr int kRounds = (M + Line::kThreads - 1) / Line::kThreads;
  using Real = typename Line::Real;

  /// With two dimensions, the passes of the second one work on rows. Those of the first one work on columns,
  /// which are neighbours in memory: there is one for each point of a row.
  static constexpr bool kOfRows = Line::kRows > 0 && kBefore >= Line::kRows;
  static constexpr int kRow = kOfRows ? Line::kLength / Line::kRows : Line::kLength;
  static constexpr int kRowM = kRow / R;  ///< butterflies of a row, and the distance of their inputs
  static constexpr int kBeside = Line::kRows > 0 && !kOfRows ? Line::kLength / Line::kRows : 1;
  static constexpr int kOwnBefore =
      kOfRows ? kBefore / Line::kRows : kBefore;         ///< product of the earlier radices
                                                         ///< of the same dimension
  static constexpr int kOutputs = kOwnBefore * kBeside;  ///< distance of a butterfly's outputs

  static __device__ __forceinline__ bool has(int thread, int round) {
    return (M % Line::kThreads == 0) || thread + round * Line::kThreads < M;
  }
  static __device__ constexpr int position(int butterfly) {
    return kOfRows ? butterfly / kRowM * kRow + butterfly % kRowM : butterfly;
  }
  /// Butterfly `thread + round·kThreads` reads the positions first + k·kRowM.
  static __device__ __forceinline__ int first(int thread, int round) {
    return position(thread + round * Line::kThreads);
  }
  /// The same butterfly writes the positions first_output + k·kOutputs.
  static __device__ __forceinline__ int first_output(int thread, int round) {
    int j = thread + round * Line::kThreads, row = 0;
    if constexpr (kOfRows) {
      row = j / kRowM * kRow;
      j %= kRowM;
    }
    return row + (kOutputs == 1 ? j * R : (j / kOutputs) * (kOutputs * R) + j % kOutputs);
  }
  /// The same position as a sum base + add, where add is a constant if all rounds have the same layout.
  static constexpr bool kAlike = !kOfRows || Line::kThreads % kRowM == 0 || kRowM % Line::kThreads == 0;
  static __device__ constexpr int base(int thread, int round) {
    return position(kAlike ? thread : thread + round * Line::kThreads);
  }
  static __device__ constexpr int add(int round, int k) {
    return (kAlike ? position(round * Line::kThreads) : 0) + k * kRowM;
  }
  /// Whether a digit of `fold` carries in any of the sums base + add.
  static __device__ constexpr bool carries(int fold) {
    int max = 0, added = 0;
    for (int j = 0; j < (kAlike ? Line::kThreads : M); ++j) {
      if (position(j) % fold > max) max = position(j) % fold;
    }
    for (int i = 0; i < kRounds * R; ++i) {
      if (add(i / R, i % R) % fold > added) added = add(i / R, i % R) % fold;
    }
    return max + added >= fold;
  }
  static constexpr bool kAlignedOutput = kOutputs == 1 && kRow == Line::kLength && Line::kPadInterval > 0 &&
                                         R % (Line::kPadInterval > 0 ? Line::kPadInterval : 1) == 0;

  /// For a grid. A butterfly's index counts first through the earlier dimensions, the first one fastest. It
  /// then counts through the later dimensions, which have no gaps, the last one fastest.
  static __device__ __forceinline__ int grid_slot(int thread, int round, int k, int line) {
    int rest = first(thread, round), position = k * Line::grid_stride(I);
#pragma unroll
    for (int d = 0; d < I; ++d) {
      position += rest % Line::radix(d) * Line::grid_stride(d);
      rest /= Line::radix(d);
    }
    return slot_of<Line>(position + rest, line);
  }
  /// The slot from which input k of a butterfly is loaded, and the slot to which output k is stored.
  static __device__ __forceinline__ int input_slot(int thread, int round, int k, int line) {
    if constexpr (Line::kTwiddleFree) return grid_slot(thread, round, k, line);
    return slot<Line>(first(thread, round), k * kRowM, line);
  }
  static __device__ __forceinline__ int output_slot(int thread, int round, int k, int line) {
    if constexpr (Line::kTwiddleFree) return grid_slot(thread, round, k, line);
    return slot<Line>(first_output(thread, round), k * kOutputs, line, kAlignedOutput);
  }

  /// Multiplies x_k by w^k, where w = exp(−2πi q/(kOwnBefore R)) and q is the butterfly's position in its
  /// group.
  static __device__ __forceinline__ void apply_twiddles(Real* re, Real* im, int thread, int round,
                                                        const Complex<Real>* __restrict__ roots) {
    if constexpr (kOwnBefore > 1 && !Line::kTwiddleFree) {
      const int q = (thread + round * Line::kThreads) % kOutputs / kBeside;
      constexpr int kStep = Line::kLength / (kOwnBefore * R);
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
    }
  }

  static __device__ __forceinline__ void compute(Real* re, Real* im, int thread,
                                                 const Complex<Real>* __restrict__ roots) {
    constexpr PassRoots kOwn = Line::roots(I);
    // For these radices the fused butterfly also has fewer operations when there are no twiddle factors.
    constexpr bool kFusedFirst =
        Line::kTwiddles == Twiddles::fused && kOwnBefore == 1 && (R == 16 || R == 32);
#pragma unroll
    for (int b = 0; b < kRounds; ++b) {
      if (!has(thread, b)) break;
      Real *const r = re + b * R, *const i = im + b * R;
      if constexpr (kOwn.kinds > 0) {
        const Complex<Real>* const own =
            roots + kOwn.first + (thread + b * Line::kThreads) % kOutputs / kBeside;
        const auto root = [own](int kind) { return own[kind * kOwnBefore]; };
        if constexpr (is_fused(Line::kTwiddles, R)) {
          FusedButterfly<R, Real>::apply(r, i, root);
          continue;
        }
#pragma unroll
        for (int k = 1; k < R; ++k) {
          const Complex<Real> w = root(k - 1);
          detail::multiply(r[k], i[k], w.re, w.im);
        }
      } else if constexpr (kFusedFirst) {
        FusedButterfly<R, Real>::apply(r, i);
        continue;
      } else {
        apply_twiddles(r, i, thread, b, roots);
      }
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

}  // namespace sfft::device
