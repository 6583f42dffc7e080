// SPDX-License-Identifier: Apache-2.0
// Small DFTs held in registers, for scalars, SIMD vectors and device code alike.
//
// Butterfly<R>::stream<Real, V>(load, store) computes the DFT exp(-2 pi i jk/R) of R complex values: it calls
// load(k, re, im) once for each input, then store(j, re, im) once for each output, in no particular order.
// V is Real or a vector of Reals (anything with +, -, * and Real * V). Sources: Van Loan, Computational
// Frameworks for the FFT (1992), 1.4 and 2.1; Good (1958) for the co-prime products.
#pragma once

#include "kernels/base/radix/butterfly_roots.hpp"
#include "kernels/base/radix/turned_butterfly.hpp"

namespace sfft::detail {

/// Always fuses a product and a sum into one instruction.
#if defined(__CUDA_ARCH__) || defined(SFFT_EMULATED_GPU)
constexpr bool kMultipliesAndAdds = true;
#else
constexpr bool kMultipliesAndAdds = false;
#endif

/// (re, im) *= (wr, wi).
template <class V, class W>
SFFT_BUTTERFLY void multiply(V& re, V& im, const W& wr, const W& wi) {
  const V product = re * wr - im * wi;
  im = re * wi + im * wr;
  re = product;
}

/// (re, im) *= exp(-2 pi i k/R), 0 <= k < R; free or cheap for eighths of a turn when k and R are constants.
template <int R, class Real, class V>
SFFT_BUTTERFLY void turn(V& re, V& im, int k) {
  if (k == 0) return;
  if (4 * k == R) {
    const V t = re;
    re = im;
    im = -t;
  } else if (8 * k == R) {
    const V t = (re + im) * static_cast<Real>(Roots<R>::cosine(k));
    im = (im - re) * static_cast<Real>(Roots<R>::cosine(k));
    re = t;
  } else if (8 * k == 3 * R) {
    const V t = (im - re) * static_cast<Real>(Roots<R>::sine(k));
    im = (re + im) * static_cast<Real>(-Roots<R>::sine(k));
    re = t;
  } else if (2 * k <= R) {
    multiply(re, im, static_cast<Real>(Roots<R>::cosine(k)), static_cast<Real>(-Roots<R>::sine(k)));
  } else {
    multiply(re, im, static_cast<Real>(Roots<R>::cosine(R - k)), static_cast<Real>(Roots<R>::sine(R - k)));
  }
}

template <int R>
struct Butterfly;

/// Loads all inputs, computes in place and stores all outputs.
template <int R>
struct InPlaceButterfly {
  template <class Real, class V, class Load, class Store>
  SFFT_BUTTERFLY static void stream(const Load& load, const Store& store) {
    V re[R], im[R];
    SFFT_UNROLL
    for (int k = 0; k < R; ++k) load(k, re[k], im[k]);
    Butterfly<R>::template apply<Real>(re, im);
    SFFT_UNROLL
    for (int j = 0; j < R; ++j) store(j, re[j], im[j]);
  }
};

/// Odd primes: pairs x_k ± x_{R-k} halve the cosine and sine sums.
template <int R>
struct Butterfly : InPlaceButterfly<R> {
  template <class Real, class V>
  SFFT_BUTTERFLY static void apply(V* re, V* im) {
    if constexpr (kMultipliesAndAdds) {
      TurnedButterfly<R, R>::template apply<Real>(re, im, 0);
    } else {
      apply_pairs<Real>(re, im);
    }
  }

 private:
  template <class Real, class V>
  SFFT_BUTTERFLY static void apply_pairs(V* re, V* im) {
    constexpr int kHalf = (R - 1) / 2;
    V sum_re[kHalf], sum_im[kHalf], difference_re[kHalf], difference_im[kHalf];
    const V first_re = re[0], first_im = im[0];
    SFFT_UNROLL
    for (int k = 0; k < kHalf; ++k) {
      sum_re[k] = re[k + 1] + re[R - 1 - k];
      sum_im[k] = im[k + 1] + im[R - 1 - k];
      difference_re[k] = re[k + 1] - re[R - 1 - k];
      difference_im[k] = im[k + 1] - im[R - 1 - k];
      re[0] = re[0] + sum_re[k];
      im[0] = im[0] + sum_im[k];
    }
    SFFT_UNROLL
    for (int j = 1; j <= kHalf; ++j) {
      V even_re = first_re, even_im = first_im;
      V odd_re = difference_re[0] * static_cast<Real>(Roots<R>::sine(j));
      V odd_im = difference_im[0] * static_cast<Real>(Roots<R>::sine(j));
      SFFT_UNROLL
      for (int k = 0; k < kHalf; ++k) {
        const int angle = j * (k + 1) % R;
        const int folded = angle <= kHalf ? angle : R - angle;
        const auto cosine = static_cast<Real>(Roots<R>::cosine(folded));
        const auto sine =
            static_cast<Real>(angle <= kHalf ? Roots<R>::sine(folded) : -Roots<R>::sine(folded));
        even_re = even_re + sum_re[k] * cosine;
        even_im = even_im + sum_im[k] * cosine;
        if (k == 0) continue;
        odd_re = odd_re + difference_re[k] * sine;
        odd_im = odd_im + difference_im[k] * sine;
      }
      re[j] = even_re + odd_im;
      im[j] = even_im - odd_re;
      re[R - j] = even_re - odd_im;
      im[R - j] = even_im + odd_re;
    }
  }
};

template <>
struct Butterfly<2> : InPlaceButterfly<2> {
  template <class Real, class V>
  SFFT_BUTTERFLY static void apply(V* re, V* im) {
    const V r = re[0] - re[1], i = im[0] - im[1];
    re[0] = re[0] + re[1];
    im[0] = im[0] + im[1];
    re[1] = r;
    im[1] = i;
  }
};

template <>
struct Butterfly<4> : InPlaceButterfly<4> {
  template <class Real, class V>
  SFFT_BUTTERFLY static void apply(V* re, V* im) {
    const V r0 = re[0] + re[2], i0 = im[0] + im[2], r1 = re[0] - re[2], i1 = im[0] - im[2];
    const V r2 = re[1] + re[3], i2 = im[1] + im[3], r3 = re[1] - re[3], i3 = im[1] - im[3];
    re[0] = r0 + r2;
    im[0] = i0 + i2;
    re[1] = r1 + i3;
    im[1] = i1 - r3;
    re[2] = r0 - r2;
    im[2] = i0 - i2;
    re[3] = r1 - i3;
    im[3] = i1 + r3;
  }
};

/// Works in place, for radices whose stream() stores only to places that it has loaded.
template <class Streamed>
struct StreamedButterfly {
  template <class Real, class V>
  SFFT_BUTTERFLY static void apply(V* re, V* im) {
    Streamed::template stream<Real, V>(
        [&](int k, V& x, V& y) SFFT_ALWAYS_INLINE {
          x = re[k];
          y = im[k];
        },
        [&](int j, const V& x, const V& y) SFFT_ALWAYS_INLINE {
          re[j] = x;
          im[j] = y;
        });
  }
};

/// R = A B by Cooley and Tukey: columns of A, twiddles, rows of B. Rows are stored as soon as they are done,
/// so that little more than R values occupy registers.
template <int A, int B>
struct ProductButterfly : StreamedButterfly<ProductButterfly<A, B>> {
  template <class Real, class V, class Load, class Store>
  SFFT_BUTTERFLY static void stream(const Load& load, const Store& store) {
    constexpr int R = A * B;
    constexpr bool kTurnsRows = kMultipliesAndAdds && B % 2 == 1;
    V grid_re[R], grid_im[R];
    SFFT_UNROLL
    for (int b = 0; b < B; ++b) {
      SFFT_UNROLL
      for (int a = 0; a < A; ++a) load(B * a + b, grid_re[b * A + a], grid_im[b * A + a]);
      Butterfly<A>::template apply<Real>(grid_re + b * A, grid_im + b * A);
      SFFT_UNROLL
      for (int a = 1; a < A; ++a) {
        if constexpr (!kTurnsRows) turn<R, Real>(grid_re[b * A + a], grid_im[b * A + a], a * b);
      }
    }
    SFFT_UNROLL
    for (int a = 0; a < A; ++a) {
      V row_re[B], row_im[B];
      SFFT_UNROLL
      for (int b = 0; b < B; ++b) {
        row_re[b] = grid_re[b * A + a];
        row_im[b] = grid_im[b * A + a];
      }
      if constexpr (kTurnsRows) {
        TurnedButterfly<B, R>::template apply<Real>(row_re, row_im, a);
      } else {
        Butterfly<B>::template apply<Real>(row_re, row_im);
      }
      SFFT_UNROLL
      for (int b = 0; b < B; ++b) store(a + A * b, row_re[b], row_im[b]);
    }
  }
};

/// R = A B with co-prime factors, by Good and Thomas, without twiddles. Inputs are B a + A b; the Chinese
/// remainder theorem gives the outputs.
template <int A, int B>
struct CoprimeButterfly : StreamedButterfly<CoprimeButterfly<A, B>> {
  SFFT_BUTTERFLY static constexpr int inverse(int value, int modulus) {
    int i = 1;
    while (value * i % modulus != 1 % modulus) ++i;
    return i;
  }
  template <class Real, class V, class Load, class Store>
  SFFT_BUTTERFLY static void stream(const Load& load, const Store& store) {
    constexpr int R = A * B;
    constexpr int kA = B * inverse(B, A), kB = A * inverse(A, B);
    V grid_re[R], grid_im[R];
    SFFT_UNROLL
    for (int b = 0; b < B; ++b) {
      SFFT_UNROLL
      for (int a = 0; a < A; ++a) load((B * a + A * b) % R, grid_re[b * A + a], grid_im[b * A + a]);
      Butterfly<A>::template apply<Real>(grid_re + b * A, grid_im + b * A);
    }
    SFFT_UNROLL
    for (int a = 0; a < A; ++a) {
      V row_re[B], row_im[B];
      SFFT_UNROLL
      for (int b = 0; b < B; ++b) {
        row_re[b] = grid_re[b * A + a];
        row_im[b] = grid_im[b * A + a];
      }
      Butterfly<B>::template apply<Real>(row_re, row_im);
      SFFT_UNROLL
      for (int b = 0; b < B; ++b) store((kA * a + kB * b) % R, row_re[b], row_im[b]);
    }
  }
};

template <>
struct Butterfly<6> : CoprimeButterfly<3, 2> {};
template <>
struct Butterfly<8> : ProductButterfly<4, 2> {};
template <>
struct Butterfly<9> : ProductButterfly<3, 3> {};
template <>
struct Butterfly<10> : CoprimeButterfly<5, 2> {};
template <>
struct Butterfly<12> : CoprimeButterfly<4, 3> {};
template <>
struct Butterfly<14> : CoprimeButterfly<7, 2> {};
template <>
struct Butterfly<15> : CoprimeButterfly<5, 3> {};
template <>
struct Butterfly<16> : ProductButterfly<4, 4> {};
template <>
struct Butterfly<18> : CoprimeButterfly<9, 2> {};
template <>
struct Butterfly<20> : CoprimeButterfly<5, 4> {};
template <>
struct Butterfly<21> : CoprimeButterfly<7, 3> {};
template <>
struct Butterfly<22> : CoprimeButterfly<11, 2> {};
template <>
struct Butterfly<24> : CoprimeButterfly<8, 3> {};
template <>
struct Butterfly<25> : ProductButterfly<5, 5> {};
template <>
struct Butterfly<26> : CoprimeButterfly<13, 2> {};
template <>
struct Butterfly<27> : ProductButterfly<9, 3> {};
template <>
struct Butterfly<28> : CoprimeButterfly<7, 4> {};
template <>
struct Butterfly<30> : CoprimeButterfly<6, 5> {};
template <>
struct Butterfly<32> : ProductButterfly<8, 4> {};
template <>
struct Butterfly<35> : CoprimeButterfly<7, 5> {};
template <>
struct Butterfly<36> : CoprimeButterfly<9, 4> {};
template <>
struct Butterfly<40> : CoprimeButterfly<8, 5> {};
template <>
struct Butterfly<42> : CoprimeButterfly<7, 6> {};
template <>
struct Butterfly<45> : CoprimeButterfly<9, 5> {};
template <>
struct Butterfly<48> : CoprimeButterfly<16, 3> {};
template <>
struct Butterfly<54> : CoprimeButterfly<27, 2> {};

}  // namespace sfft::detail
