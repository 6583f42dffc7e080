// SPDX-License-Identifier: Apache-2.0
// Roots of unity for the butterflies (butterfly.hpp), and the macros that mark their functions for host and
// device.
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
// Always inline: otherwise the linker could use an out-of-line copy that was compiled for another instruction
// set.
#define SFFT_BUTTERFLY inline __attribute__((always_inline))
#define SFFT_ALWAYS_INLINE __attribute__((always_inline))
#define SFFT_UNROLL _Pragma("GCC unroll 32")
#endif

namespace sfft::detail {

template <int R>
struct Roots;  // cosine and sine of 2 pi k/R for k = 0 … R/2, to the last bit of a double

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

}  // namespace sfft::detail
