// SPDX-License-Identifier: Apache-2.0
// Butterflies of powers of two whose twiddle factors are part of their additions (Linzer and Feig 1993).
#pragma once

#include "kernels/dense/tuned/device/line.cuh"

namespace sfft::device {

/// The DFT of x_k w^k, k < R, by steps of radix 2: the sizes 2, 4, … R join two halves by the roots
/// w^(R/size) e^(−2πi m/size). A root z is given as (re z, im z/re z): z b = re z (b + i b im z/re z), so
/// that a step is six multiply-adds for two values, and none of them is a rotation by itself. Roots of the
/// second half of a size are those of the first times −i.
template <int R, class Real>
class FusedButterfly {
 public:
  /// root(i): root i of fused_roots(R), in the order of sizes, of a size those of m < max(1, size/4).
  template <class Root>
  static __device__ __forceinline__ void apply(Real* re, Real* im, const Root& root) {
    Real r[R], i[R];
#pragma unroll
    for (int k = 0; k < R; ++k) {
      r[k] = re[reversed(k)];
      i[k] = im[reversed(k)];
    }
    join<2>(r, i, root);
#pragma unroll
    for (int k = 0; k < R; ++k) {
      re[k] = r[k];
      im[k] = i[k];
    }
  }

 private:
  static __device__ constexpr int reversed(int k) {
    int result = 0;
    for (int bit = 1; bit < R; bit *= 2) result = 2 * result + (k & bit ? 1 : 0);
    return result;
  }

  template <int kSize, class Root>
  static __device__ __forceinline__ void join(Real* r, Real* i, const Root& root) {
    constexpr int kHalf = kSize / 2, kOwn = kSize < 4 ? 1 : kSize / 4, kFirst = kSize < 4 ? 0 : kOwn;
#pragma unroll
    for (int m = 0; m < kOwn; ++m) {
      const Complex<Real> z = root(kFirst + m);
#pragma unroll
      for (int turned = 0; turned < kHalf / kOwn; ++turned) {
#pragma unroll
        for (int block = 0; block < R; block += kSize) {
          const int a = block + m + turned * kOwn, b = a + kHalf;
          const Real u = r[b] - z.im * i[b], v = i[b] + z.im * r[b];
          const Real x = turned == 0 ? u : v, y = turned == 0 ? v : -u;
          r[b] = r[a] - z.re * x;
          i[b] = i[a] - z.re * y;
          r[a] = r[a] + z.re * x;
          i[a] = i[a] + z.re * y;
        }
      }
    }
    if constexpr (kSize < R) join<2 * kSize>(r, i, root);
  }
};

}  // namespace sfft::device
