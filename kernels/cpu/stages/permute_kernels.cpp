// SPDX-License-Identifier: Apache-2.0
// Each common lane count has its own copy of the loops, so that they unroll; neighbouring delays are read as
// whole vectors.
#include <type_traits>

#include "kernels/cpu/platform/simd.hpp"
#include "kernels/cpu/stages/permute.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

/// The integer of a size, through which elements of any type may be copied.
template <std::size_t kSize>
struct Bytes;
template <>
struct Bytes<2> {
  typedef std::uint16_t __attribute__((may_alias)) Word;
};
template <>
struct Bytes<4> {
  typedef std::uint32_t __attribute__((may_alias)) Word;
};

template <class Real, class T, int kLanes>
void gather_real(const T* base, std::int64_t count, std::int64_t stride, const std::int64_t* offsets,
                 std::int64_t runtime_lanes, Real* __restrict re, Real* __restrict im) {
  const std::int64_t lanes = kLanes > 0 ? kLanes : runtime_lanes;
  for (std::int64_t m = 0; m < count; ++m, base += stride, re += lanes, im += lanes) {
    for (std::int64_t l = 0; l < lanes; ++l) {
      re[l] = static_cast<Real>(base[offsets[2 * l]]);
      im[l] = static_cast<Real>(base[offsets[2 * l + 1]]);
    }
  }
}

template <class Real, class T, int kLanes>
void gather_complex(const Pair<T>* base, std::int64_t count, std::int64_t stride, const std::int64_t* offsets,
                    std::int64_t runtime_lanes, Real* __restrict re, Real* __restrict im) {
  const std::int64_t lanes = kLanes > 0 ? kLanes : runtime_lanes;
  bool neighbours = true;
  for (std::int64_t l = 1; l < lanes; ++l) neighbours = neighbours && offsets[l] == offsets[0] + l;
  if (neighbours) {
    // Whole vectors of samples, split into real and imaginary halves.
    const Pair<T>* from = base + offsets[0];
    for (std::int64_t m = 0; m < count; ++m, from += stride, re += lanes, im += lanes) {
      for (std::int64_t l = 0; l < lanes; ++l) {
        re[l] = static_cast<Real>(from[l].re);
        im[l] = static_cast<Real>(from[l].im);
      }
    }
    return;
  }
  for (std::int64_t m = 0; m < count; ++m, base += stride, re += lanes, im += lanes) {
    for (std::int64_t l = 0; l < lanes; ++l) {
      const Pair<T> sample = base[offsets[l]];
      re[l] = static_cast<Real>(sample.re);
      im[l] = static_cast<Real>(sample.im);
    }
  }
}

template <int N>
struct Lanes {
  static constexpr int kCount = N;
};

/// Calls action with the number of lanes as a type, or with Lanes<0> if it is not a common one.
template <class Action>
inline __attribute__((always_inline)) void by_lanes(std::int64_t lanes, const Action& action) {
  switch (lanes) {
    case 1:
      return action(Lanes<1>());
    case 2:
      return action(Lanes<2>());
    case 3:
      return action(Lanes<3>());
    case 4:
      return action(Lanes<4>());
    case 5:
      return action(Lanes<5>());
    case 6:
      return action(Lanes<6>());
    case 8:
      return action(Lanes<8>());
    default:
      return action(Lanes<0>());
  }
}

template <class Real, class T>
void real_entry(const void* base, std::int64_t count, std::int64_t stride, const std::int64_t* offsets,
                std::int64_t lanes, Real* re, Real* im) {
  by_lanes(lanes, [&](auto n) {
    gather_real<Real, T, n.kCount>(static_cast<const T*>(base), count, stride, offsets, lanes, re, im);
  });
}

template <class Real, class T>
void complex_entry(const void* base, std::int64_t count, std::int64_t stride, const std::int64_t* offsets,
                   std::int64_t lanes, Real* re, Real* im) {
  by_lanes(lanes, [&](auto n) {
    gather_complex<Real, T, n.kCount>(static_cast<const Pair<T>*>(base), count, stride, offsets, lanes, re,
                                      im);
  });
}

/// Not inlined: all types share it.
template <class Word, int kLanes>
__attribute__((noinline)) void gather_words(const Word* base, std::int64_t count, std::int64_t stride,
                                            const std::int64_t* offsets, std::int64_t runtime_lanes,
                                            Word* __restrict to) {
  const std::int64_t lanes = kLanes > 0 ? kLanes : runtime_lanes;
  for (std::int64_t m = 0; m < count; ++m, base += stride, to += lanes) {
    for (std::int64_t l = 0; l < lanes; ++l) to[l] = base[offsets[l]];
  }
}

/// The parts of a vector of words as numbers.
template <class T, class V, class I>
inline __attribute__((always_inline)) void split_vector(I words, V& re, V& im) {
  constexpr int kBits = 8 * sizeof(T);
  if constexpr (std::is_same_v<T, OffsetByte>) {
    re = __builtin_convertvector(words & 0xff, V) - 127.5f;
    im = __builtin_convertvector((words >> kBits) & 0xff, V) - 127.5f;
  } else {
    re = __builtin_convertvector((words << (32 - kBits)) >> (32 - kBits), V);
    im = __builtin_convertvector((words << (32 - 2 * kBits)) >> (32 - kBits), V);
  }
}

/// Splits `count` words; the last vector overlaps the one before.
template <class Real, class T, class Word>
void split_words(const Word* words, std::int64_t count, Real* __restrict re, Real* __restrict im) {
  constexpr int W = Simd<Real>::kLanes;
  typedef Word Words __attribute__((vector_size(W * sizeof(Word))));
  typedef std::int32_t Integers __attribute__((vector_size(W * sizeof(std::int32_t))));
  for (std::int64_t run = 0; run + W <= count || (run < count && count >= W); run += W) {
    const std::int64_t i = run + W <= count ? run : count - W;
    Words vector;
    __builtin_memcpy(&vector, words + i, sizeof vector);
    typename Simd<Real>::Vector x, y;
    split_vector<T>(__builtin_convertvector(vector, Integers), x, y);
    Simd<Real>::store(re + i, x);
    Simd<Real>::store(im + i, y);
  }
  if (count >= W) return;
  for (std::int64_t i = 0; i < count; ++i) {
    Pair<T> pair;
    __builtin_memcpy(&pair, words + i, sizeof pair);
    re[i] = static_cast<Real>(pair.re);
    im[i] = static_cast<Real>(pair.im);
  }
}

/// For pairs of small integers: gathers a block of pairs as words, whatever their type, then converts it.
/// Loops that do both at once compile to ten times the code.
template <class Real, class T>
void narrow_entry(const void* base, std::int64_t count, std::int64_t stride, const std::int64_t* offsets,
                  std::int64_t lanes, Real* re, Real* im) {
  typedef typename Bytes<sizeof(Pair<T>)>::Word Word;
  constexpr std::int64_t kBlock = 512;
  const auto* words = static_cast<const Word*>(base);
  const std::int64_t width = lanes < kBlock ? lanes : kBlock, rows = kBlock / width;
  Word block[kBlock];
  for (std::int64_t m = 0; m < count; m += rows) {
    const std::int64_t these = count - m < rows ? count - m : rows;
    for (std::int64_t first = 0; first < lanes; first += width) {  // with several widths, of a single row
      const std::int64_t wide = lanes - first < width ? lanes - first : width;
      by_lanes(wide, [&](auto n) {
        gather_words<Word, n.kCount>(words + m * stride, these, stride, offsets + first, wide, block);
      });
      split_words<Real, T>(block, these * wide, re + m * lanes + first, im + m * lanes + first);
    }
  }
}

template <class Real>
void subtract(Real* __restrict y, const Real* __restrict reference, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) y[i] -= reference[i];
}

template <class Real>
constexpr PermuteKernels<Real> kTable{
    {real_entry<Real, std::uint8_t>, real_entry<Real, std::uint16_t>, real_entry<Real, float>,
     real_entry<Real, double>, complex_entry<Real, float>, complex_entry<Real, double>,
     real_entry<Real, std::int8_t>, real_entry<Real, std::int16_t>, real_entry<Real, std::int32_t>,
     narrow_entry<Real, std::int8_t>, narrow_entry<Real, std::int16_t>, narrow_entry<Real, OffsetByte>},
    subtract<Real>};

}  // namespace

const PermuteKernels<float>& permute_table_float() noexcept {
  return kTable<float>;
}
const PermuteKernels<double>& permute_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
