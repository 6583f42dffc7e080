// SPDX-License-Identifier: Apache-2.0
// Each common lane count has its own copy of the loops, so that they unroll; neighbouring delays are read as
// whole vectors.
#include "kernels/cpu/platform/simd.hpp"
#include "kernels/cpu/stages/permute.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

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

#define SFFT_BY_LANES(function, pointer)                                           \
  switch (lanes) {                                                                 \
    case 1:                                                                        \
      return function<Real, T, 1>(pointer, count, stride, offsets, lanes, re, im); \
    case 2:                                                                        \
      return function<Real, T, 2>(pointer, count, stride, offsets, lanes, re, im); \
    case 3:                                                                        \
      return function<Real, T, 3>(pointer, count, stride, offsets, lanes, re, im); \
    case 4:                                                                        \
      return function<Real, T, 4>(pointer, count, stride, offsets, lanes, re, im); \
    case 5:                                                                        \
      return function<Real, T, 5>(pointer, count, stride, offsets, lanes, re, im); \
    case 6:                                                                        \
      return function<Real, T, 6>(pointer, count, stride, offsets, lanes, re, im); \
    case 8:                                                                        \
      return function<Real, T, 8>(pointer, count, stride, offsets, lanes, re, im); \
    default:                                                                       \
      return function<Real, T, 0>(pointer, count, stride, offsets, lanes, re, im); \
  }

template <class Real, class T>
void real_entry(const void* base, std::int64_t count, std::int64_t stride, const std::int64_t* offsets,
                std::int64_t lanes, Real* re, Real* im) {
  SFFT_BY_LANES(gather_real, static_cast<const T*>(base))
}

template <class Real, class T>
void complex_entry(const void* base, std::int64_t count, std::int64_t stride, const std::int64_t* offsets,
                   std::int64_t lanes, Real* re, Real* im) {
  SFFT_BY_LANES(gather_complex, static_cast<const Pair<T>*>(base))
}

/// For pairs of small integers: gathers a block of pairs, then converts it. Compilers vectorise that well,
/// and loops that gather and convert at once with code of ten times the size.
template <class Real, class T>
void narrow_entry(const void* base, std::int64_t count, std::int64_t stride, const std::int64_t* offsets,
                  std::int64_t lanes, Real* __restrict re, Real* __restrict im) {
  constexpr std::int64_t kBlock = 256;
  const auto* x = static_cast<const Pair<T>*>(base);
  Pair<T> block[kBlock];
  std::int64_t filled = 0;
  const auto convert = [&] {
    for (std::int64_t i = 0; i < filled; ++i) {
      re[i] = static_cast<Real>(block[i].re);
      im[i] = static_cast<Real>(block[i].im);
    }
    re += filled;
    im += filled;
    filled = 0;
  };
  for (std::int64_t m = 0; m < count; ++m, x += stride) {
    for (std::int64_t l = 0; l < lanes; ++l) {
      block[filled++] = x[offsets[l]];
      if (filled == kBlock) convert();
    }
  }
  convert();
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
