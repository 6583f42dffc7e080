// SPDX-License-Identifier: Apache-2.0
// Power-of-two butterflies that fold their twiddle factors into their additions (Linzer and Feig 1993).
#pragma once

#include "kernels/dense/tuned/device/line.cuh"

namespace sfft::device {

/// The DFT of x_k w^k, k < R, in radix-2 steps: sizes 2, 4, … R join two halves with the roots w^(R/size)
/// e^(−2πi m/size). A root z is given as (re z, im z/re z), because z b = re z (b + i b im z/re z). A step
/// then takes six multiply-adds for two values, and no separate rotation. The roots of the second half of a
/// size are those of the first half times −i.
template <int R, class Real>
class FusedButterfly {
 public:
  /// root(i) returns root i of PassRoots. Roots are in the order of sizes; each size has those with m <
  /// max(1, size/4).
  template <class Root>
  static __device__ __forceinline__ void apply(Real* re, Real* im, const Root& root) {
    transform<false>(re, im, root);
  }
  /// The same without twiddle factors.
  static __device__ __forceinline__ void apply(Real* re, Real* im) {
    transform<true>(re, im, [](int) { return Complex<Real>{1, 0}; });
  }

 private:
  template <bool kPlain, class Root>
  static __device__ __forceinline__ void transform(Real* re, Real* im, const Root& root) {
    Real r[R], i[R];
#pragma unroll
    for (int k = 0; k < R; ++k) {
      r[k] = re[reversed(k)];
      i[k] = im[reversed(k)];
    }
    join<2, kPlain>(r, i, root);
#pragma unroll
    for (int k = 0; k < R; ++k) {
      re[k] = r[k];
      im[k] = i[k];
    }
  }

  /// e^(−2πi m/size), in the form that root(i) returns.
  static __device__ constexpr Complex<Real> constant(int size, int m) {
    constexpr Real kCosines[] = {Real(1),
                                 Real(0.98078528040323044913),
                                 Real(0.92387953251128675613),
                                 Real(0.83146961230254523708),
                                 Real(0.70710678118654752440),
                                 Real(0.55557023301960222474),
                                 Real(0.38268343236508977173),
                                 Real(0.19509032201612826785)};
    constexpr Real kTangents[] = {
        Real(0), Real(0.19891236737965800691), Real(0.41421356237309504880), Real(0.66817863791929891999),
        Real(1), Real(1.4966057626654890176),  Real(2.4142135623730950488),  Real(5.0273394921258481045)};
    return {kCosines[m * 32 / size], -kTangents[m * 32 / size]};
  }
  static __device__ constexpr int reversed(int k) {
    int result = 0;
    for (int bit = 1; bit < R; bit *= 2) result = 2 * result + (k & bit ? 1 : 0);
    return result;
  }

  template <int kSize, bool kPlain, class Root>
  static __device__ __forceinline__ void join(Real* r, Real* i, const Root& root) {
    constexpr int kHalf = kSize / 2, kOwn = kSize < 4 ? 1 : kSize / 4, kFirst = kSize < 4 ? 0 : kOwn;
#pragma unroll
    for (int m = 0; m < kOwn; ++m) {
      const Complex<Real> z = kPlain ? constant(kSize, m) : root(kFirst + m);
      const bool is_one = kPlain && m == 0;
#pragma unroll
      for (int turned = 0; turned < kHalf / kOwn; ++turned) {
#pragma unroll
        for (int block = 0; block < R; block += kSize) {
          const int a = block + m + turned * kOwn, b = a + kHalf;
          const Real u = is_one ? r[b] : r[b] - z.im * i[b], v = is_one ? i[b] : i[b] + z.im * r[b];
          const Real x = turned == 0 ? u : v, y = turned == 0 ? v : -u;
          r[b] = is_one ? r[a] - x : r[a] - z.re * x;
          i[b] = is_one ? i[a] - y : i[a] - z.re * y;
          r[a] = is_one ? r[a] + x : r[a] + z.re * x;
          i[a] = is_one ? i[a] + y : i[a] + z.re * y;
        }
      }
    }
    if constexpr (kSize < R) join<2 * kSize, kPlain>(r, i, root);
  }
};

}  // namespace sfft::device
