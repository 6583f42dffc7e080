// Small DFTs held in registers, for scalars, SIMD vectors and device code alike.
//
// Butterfly<R>::stream<Real, V>(load, store) computes the DFT exp(-2 pi i jk/R) of R complex values: it calls
// load(k, re, im) once for each input, then store(j, re, im) once for each output, in no particular order.
// V is Real or a vector of Reals (anything with +, -, * and Real * V). Sources: Van Loan, Computational
// Frameworks for the FFT (1992), 1.4 and 2.1; Good (1958) for the co-prime products.
#pragma once

#if defined(__CUDACC__)
#define SFFT_BUTTERFLY __host__ __device__ __forceinline__
#define SFFT_ALWAYS_INLINE
#define SFFT_UNROLL _Pragma("unroll")
#elif defined(__clang__)
#define SFFT_BUTTERFLY inline __attribute__((always_inline))
#define SFFT_ALWAYS_INLINE __attribute__((always_inline))
#define SFFT_UNROLL _Pragma("unroll")
#else
// Always inline: no out-of-line copy compiled for one instruction set can be picked up by another.
#define SFFT_BUTTERFLY inline __attribute__((always_inline))
#define SFFT_ALWAYS_INLINE __attribute__((always_inline))
#define SFFT_UNROLL _Pragma("GCC unroll 32")
#endif

namespace sfft::detail {

/// (re, im) *= (wr, wi).
template <class V, class W>
SFFT_BUTTERFLY void multiply(V& re, V& im, const W& wr, const W& wi) {
  const V product = re * wr - im * wi;
  im = re * wi + im * wr;
  re = product;
}

template <int R>
struct Roots;  // cosine and sine of 2 pi k/R for k = 0 … R/2

// clang-format off
template <> struct Roots<3> {
  SFFT_BUTTERFLY static constexpr double cosine(int k) {
    constexpr double table[] = {1, -0.5};
    return table[k];
  }
  SFFT_BUTTERFLY static constexpr double sine(int k) {
    constexpr double table[] = {0, 0.866025403784438646764};
    return table[k];
  }
};
template <> struct Roots<5> {
  SFFT_BUTTERFLY static constexpr double cosine(int k) {
    constexpr double table[] = {1, 0.309016994374947424102, -0.809016994374947424102};
    return table[k];
  }
  SFFT_BUTTERFLY static constexpr double sine(int k) {
    constexpr double table[] = {0, 0.951056516295153572116, 0.587785252292473129169};
    return table[k];
  }
};
template <> struct Roots<7> {
  SFFT_BUTTERFLY static constexpr double cosine(int k) {
    constexpr double table[] = {1, 0.623489801858733530525, -0.222520933956314404289, -0.900968867902419126236};
    return table[k];
  }
  SFFT_BUTTERFLY static constexpr double sine(int k) {
    constexpr double table[] = {0, 0.781831482468029808708, 0.974927912181823607018, 0.433883739117558120476};
    return table[k];
  }
};
template <> struct Roots<8> {
  SFFT_BUTTERFLY static constexpr double cosine(int k) {
    constexpr double table[] = {1, 0.707106781186547524401, 0, -0.707106781186547524401, -1};
    return table[k];
  }
  SFFT_BUTTERFLY static constexpr double sine(int k) {
    constexpr double table[] = {0, 0.707106781186547524401, 1, 0.707106781186547524401, 0};
    return table[k];
  }
};
template <> struct Roots<9> {
  SFFT_BUTTERFLY static constexpr double cosine(int k) {
    constexpr double table[] = {1, 0.766044443118978035202, 0.173648177666930348852, -0.5,
                                      -0.939692620785908384054};
    return table[k];
  }
  SFFT_BUTTERFLY static constexpr double sine(int k) {
    constexpr double table[] = {0, 0.642787609686539326323, 0.984807753012208059367, 0.866025403784438646764,
                                    0.342020143325668733044};
    return table[k];
  }
};
template <> struct Roots<11> {
  SFFT_BUTTERFLY static constexpr double cosine(int k) {
    constexpr double table[] = {1, 0.841253532831181168862, 0.415415013001886425529, -0.142314838273285140444,
                                      -0.654860733945285064057, -0.95949297361449738989};
    return table[k];
  }
  SFFT_BUTTERFLY static constexpr double sine(int k) {
    constexpr double table[] = {0, 0.540640817455597582108, 0.909631995354518371412, 0.989821441880932732376,
                                    0.755749574354258283774, 0.281732556841429697711};
    return table[k];
  }
};
template <> struct Roots<13> {
  SFFT_BUTTERFLY static constexpr double cosine(int k) {
    constexpr double table[] = {1, 0.8854560256532098959, 0.568064746731155802512, 0.120536680255323053349,
                                      -0.35460488704253562597, -0.748510748171101098635, -0.970941817426052027157};
    return table[k];
  }
  SFFT_BUTTERFLY static constexpr double sine(int k) {
    constexpr double table[] = {0, 0.464723172043768545656, 0.82298386589365639458, 0.992708874098053992801,
                                    0.93501624268541482344, 0.663122658240795202377, 0.239315664287557767149};
    return table[k];
  }
};
template <> struct Roots<16> {
  SFFT_BUTTERFLY static constexpr double cosine(int k) {
    constexpr double table[] = {1, 0.923879532511286756128, 0.707106781186547524401, 0.382683432365089771728, 0,
                                      -0.382683432365089771728, -0.707106781186547524401, -0.923879532511286756128, -1};
    return table[k];
  }
  SFFT_BUTTERFLY static constexpr double sine(int k) {
    constexpr double table[] = {0, 0.382683432365089771728, 0.707106781186547524401, 0.923879532511286756128, 1,
                                    0.923879532511286756128, 0.707106781186547524401, 0.382683432365089771728, 0};
    return table[k];
  }
};
template <> struct Roots<17> {
  SFFT_BUTTERFLY static constexpr double cosine(int k) {
    constexpr double table[] = {1, 0.932472229404355804573, 0.739008917220659115925, 0.445738355776538267396,
                                      0.09226835946330199524, -0.273662990072082863539, -0.602634636379256389179, -0.850217135729614152134,
                                      -0.982973099683901778282};
    return table[k];
  }
  SFFT_BUTTERFLY static constexpr double sine(int k) {
    constexpr double table[] = {0, 0.361241666187152948745, 0.673695643646557211713, 0.895163291355062322067,
                                      0.995734176295034521871, 0.961825643172819070409, 0.798017227280239503333, 0.526432162877355800245,
                                      0.183749517816570331574};
    return table[k];
  }
};
template <> struct Roots<25> {
  SFFT_BUTTERFLY static constexpr double cosine(int k) {
    constexpr double table[] = {1, 0.96858316112863111949, 0.876306680043863587308, 0.728968627421411523147, 0.535826794978996618271, 0.309016994374947424102,
                                      0.0627905195293133760762, -0.187381314585724630543, -0.425779291565072648863, -0.637423989748689710177, -0.809016994374947424102, -0.929776485888251403661,
                                      -0.99211470131447783105};
    return table[k];
  }
  SFFT_BUTTERFLY static constexpr double sine(int k) {
    constexpr double table[] = {0, 0.248689887164854788242, 0.481753674101715274987, 0.684547105928688673732, 0.844327925502015078549, 0.951056516295153572116,
                                      0.998026728428271561952, 0.982287250728688681086, 0.904827052466019527714, 0.770513242775789230803, 0.587785252292473129169, 0.368124552684677959157,
                                      0.125333233564304245373};
    return table[k];
  }
};
template <> struct Roots<27> {
  SFFT_BUTTERFLY static constexpr double cosine(int k) {
    constexpr double table[] = {1, 0.973044870579823838833, 0.893632640323412248193, 0.766044443118978035202, 0.597158591702786164852, 0.396079766039156823696,
                                      0.173648177666930348852, -0.0581448289104758285387, -0.286803232711090253103, -0.5, -0.68624163786873358573, -0.835487811412936419654,
                                      -0.939692620785908384054, -0.993238357741942988548};
    return table[k];
  }
  SFFT_BUTTERFLY static constexpr double sine(int k) {
    constexpr double table[] = {0, 0.23061587074244017845, 0.448799180200462172785, 0.642787609686539326323, 0.802123192755043785083, 0.918216106880274014759,
                                      0.984807753012208059367, 0.998308158271268208048, 0.957989512315488874437, 0.866025403784438646764, 0.727373641573048695987, 0.549508978070806035263,
                                      0.342020143325668733044, 0.116092914125230229676};
    return table[k];
  }
};
template <> struct Roots<32> {
  SFFT_BUTTERFLY static constexpr double cosine(int k) {
    constexpr double table[] = {1, 0.980785280403230449126, 0.923879532511286756128, 0.831469612302545237079, 0.707106781186547524401, 0.555570233019602224743,
                                      0.382683432365089771728, 0.195090322016128267848, 0, -0.195090322016128267848, -0.382683432365089771728, -0.555570233019602224743,
                                      -0.707106781186547524401, -0.831469612302545237079, -0.923879532511286756128, -0.980785280403230449126, -1};
    return table[k];
  }
  SFFT_BUTTERFLY static constexpr double sine(int k) {
    constexpr double table[] = {0, 0.195090322016128267848, 0.382683432365089771728, 0.555570233019602224743, 0.707106781186547524401, 0.831469612302545237079,
                                      0.923879532511286756128, 0.980785280403230449126, 1, 0.980785280403230449126, 0.923879532511286756128, 0.831469612302545237079,
                                      0.707106781186547524401, 0.555570233019602224743, 0.382683432365089771728, 0.195090322016128267848, 0};
    return table[k];
  }
};
// clang-format on

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

/// Loads everything, computes in place and stores everything.
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

/// In place, for radices that stream by themselves: they store only what they have loaded before.
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

/// R = A B by Cooley and Tukey: columns of A, a turn, rows of B. Rows go out as they are done, so that
/// registers hold little more than R values.
template <int A, int B>
struct ProductButterfly : StreamedButterfly<ProductButterfly<A, B>> {
  template <class Real, class V, class Load, class Store>
  SFFT_BUTTERFLY static void stream(const Load& load, const Store& store) {
    constexpr int R = A * B;
    V grid_re[R], grid_im[R];
    SFFT_UNROLL
    for (int b = 0; b < B; ++b) {
      SFFT_UNROLL
      for (int a = 0; a < A; ++a) load(B * a + b, grid_re[b * A + a], grid_im[b * A + a]);
      Butterfly<A>::template apply<Real>(grid_re + b * A, grid_im + b * A);
      SFFT_UNROLL
      for (int a = 1; a < A; ++a) turn<R, Real>(grid_re[b * A + a], grid_im[b * A + a], a * b);
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
      for (int b = 0; b < B; ++b) store(a + A * b, row_re[b], row_im[b]);
    }
  }
};

/// R = A B with co-prime factors, by Good and Thomas: no turns. Inputs B a + A b, outputs by the Chinese
/// remainder theorem.
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
struct Butterfly<15> : CoprimeButterfly<5, 3> {};
template <>
struct Butterfly<16> : ProductButterfly<4, 4> {};
template <>
struct Butterfly<18> : CoprimeButterfly<9, 2> {};
template <>
struct Butterfly<20> : CoprimeButterfly<5, 4> {};
template <>
struct Butterfly<24> : CoprimeButterfly<8, 3> {};
template <>
struct Butterfly<25> : ProductButterfly<5, 5> {};
template <>
struct Butterfly<27> : ProductButterfly<9, 3> {};
template <>
struct Butterfly<30> : CoprimeButterfly<6, 5> {};
template <>
struct Butterfly<32> : ProductButterfly<8, 4> {};
template <>
struct Butterfly<36> : CoprimeButterfly<9, 4> {};
template <>
struct Butterfly<40> : CoprimeButterfly<8, 5> {};

}  // namespace sfft::detail
