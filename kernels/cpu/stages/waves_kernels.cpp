// SPDX-License-Identifier: Apache-2.0
// Phases come from exact fractions and a sine without branches; sums over waves are tiles of anchors by
// offsets in registers.
#include <type_traits>

#include "kernels/base/math/roots_of_unity.hpp"
#include "kernels/cpu/platform/simd.hpp"
#include "kernels/cpu/stages/waves.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

constexpr double kPi = 3.14159265358979323846;
/// Adding and subtracting this rounds to the nearest integer.
constexpr double kRound = 6755399441055744.0;
/// The number of positions processed together.
constexpr int kBlock = static_cast<int>(kWaveBlock);

/// f·t/n modulo 1, near 0, for integers 0 <= f, t < n < 2^50. The quotient may be off by one; the remainder
/// is exact because a fused multiply-add does not round the product.
inline __attribute__((always_inline)) double fraction(double f, double t, double n, double inverse) {
  const double product = f * t;
  const double low = __builtin_fma(f, t, -product);
  const double quotient = (product * inverse + kRound) - kRound;
  return (__builtin_fma(-quotient, n, product) + low) * inverse;
}

/// cos and sin of 2 pi turns for |turns| < 2, without branches.
inline __attribute__((always_inline)) void root(double turns, double& re, double& im) {
  const double quarters = (4 * turns + kRound) - kRound;
  double s, c;
  sine_cosine(2 * kPi * (turns - 0.25 * quarters), s, c);
  // Half the quarters, rounded down, is odd where the signs change.
  const double halves = (0.5 * quarters - 0.25 + kRound) - kRound;
  const double odd = quarters - 2 * halves;                                      // 0 or 1
  const double turned = halves - 2 * ((0.5 * halves - 0.25 + kRound) - kRound);  // 0 or 1
  const double sign = 1 - 2 * turned;
  re = sign * (odd != 0 ? -s : c);
  im = sign * (odd != 0 ? c : s);
}

template <class Real>
void roots(const WavePoints& waves, const double* value_re, const double* value_im,
           const WavePoints& positions, const WaveGrid& grid, Real* __restrict re, Real* __restrict im) {
  double inverse[3];
  for (int d = 0; d < grid.rank; ++d) inverse[d] = 1 / grid.extents[d];
  for (std::int64_t i = 0; i < waves.count; ++i, re += positions.count, im += positions.count) {
    const double vr = value_re != nullptr ? value_re[i] : 1;
    const double vi = value_re != nullptr ? value_im[i] : 0;
    for (std::int64_t j = 0; j < positions.count; j += kBlock) {
      double turns[kBlock];
      const double* t = positions.at[0] + j;
      for (int l = 0; l < kBlock; ++l) turns[l] = fraction(waves.at[0][i], t[l], grid.extents[0], inverse[0]);
      for (int d = 1; d < grid.rank; ++d) {
        t = positions.at[d] + j;
        for (int l = 0; l < kBlock; ++l)
          turns[l] += fraction(waves.at[d][i], t[l], grid.extents[d], inverse[d]);
      }
      for (int l = 0; l < kBlock; ++l) {
        double x, y;
        root(turns[l], x, y);
        re[j + l] = static_cast<Real>(vr * x - vi * y);
        im[j + l] = static_cast<Real>(vr * y + vi * x);
      }
    }
  }
}

/// `kRows` anchors by `kVectors` vectors of offsets, in registers.
template <class Real, int kRows, int kVectors, bool kReal>
void tile(const WaveTables<Real>& tables, std::int64_t anchor, std::int64_t offset, double* re, double* im) {
  using V = Simd<Real>;
  typename V::Vector sum_re[kRows][kVectors] = {}, sum_im[kRows][kVectors] = {};
  const Real* first_re = tables.first_re + anchor;
  const Real* first_im = tables.first_im + anchor;
  const Real* second_re = tables.second_re + offset;
  const Real* second_im = tables.second_im + offset;
  for (std::int64_t i = 0; i < tables.waves; ++i) {
    typename V::Vector vr[kVectors], vi[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      vr[v] = V::load(second_re + v * V::kLanes);
      vi[v] = V::load(second_im + v * V::kLanes);
    }
    for (int a = 0; a < kRows; ++a) {
      const typename V::Vector wr = V::broadcast(first_re[a]);
      const typename V::Vector wi = V::broadcast(first_im[a]);
      for (int v = 0; v < kVectors; ++v) {
        sum_re[a][v] += wr * vr[v];
        sum_re[a][v] -= wi * vi[v];
        if constexpr (!kReal) {
          sum_im[a][v] += wr * vi[v];
          sum_im[a][v] += wi * vr[v];
        }
      }
    }
    first_re += tables.anchors;
    first_im += tables.anchors;
    second_re += kWaveOffsets;
    second_im += kWaveOffsets;
  }
  for (int a = 0; a < kRows; ++a) {
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t at = (anchor + a) * kWaveOffsets + offset + v * V::kLanes;
      for (int l = 0; l < V::kLanes; ++l) {
        re[at + l] += static_cast<double>(sum_re[a][v][l]);
        if constexpr (!kReal) im[at + l] += static_cast<double>(sum_im[a][v][l]);
      }
    }
  }
}

template <class Real, bool kReal>
void sums_of(const WaveTables<Real>& tables, double* re, double* im) {
  // Vectors of sums that fit the instruction set's registers.
  constexpr int kRoom = SFFT_VECTOR_BYTES == 64 ? 4 : 2;
  constexpr int kMax = static_cast<int>(kWaveOffsets) / Simd<Real>::kLanes;
  constexpr int kVectors = kRoom < kMax ? kRoom : kMax;
  constexpr int kRows = kVectors < kRoom ? 4 : 2;
  for (std::int64_t offset = 0; offset < kWaveOffsets; offset += kVectors * Simd<Real>::kLanes) {
    for (std::int64_t anchor = 0; anchor < tables.anchors; anchor += kRows)
      tile<Real, kRows, kVectors, kReal>(tables, anchor, offset, re, im);
  }
}

template <class Real>
void sums(const WaveTables<Real>& tables, double* re, double* im) {
  im == nullptr ? sums_of<Real, true>(tables, re, im) : sums_of<Real, false>(tables, re, im);
}

/// A vector of complex numbers, one for each of some frequencies.
struct Phasors {
  typedef typename Simd<double>::Vector Vector;
  Vector re, im;
};
inline __attribute__((always_inline)) Phasors operator*(const Phasors& a, const Phasors& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
inline __attribute__((always_inline)) Phasors operator+(const Phasors& a, const Phasors& b) {
  return {a.re + b.re, a.im + b.im};
}

/// The terms of one digit: its phases times the powers of the root at its place.
inline __attribute__((always_inline)) void digit_terms(const Phasors& root, const double* phases,
                                                       Phasors* terms) {
  using V = Simd<double>;
  terms[0] = {V::broadcast(1), V::broadcast(0)};
  terms[1] = root;
  for (int j = 2; j < 16; ++j) terms[j] = terms[j / 2] * terms[j - j / 2];
  for (int j = 0; j < 16; ++j)
    terms[j] = terms[j] * Phasors{V::broadcast(phases[2 * j]), V::broadcast(phases[2 * j + 1])};
}

void digit_sums(const double* f, const DigitPhases& digits, double* re, double* im) {
  using V = Simd<double>;
  constexpr int kMaxDigits = 16;
  const auto extent = static_cast<double>(digits.extent);
  alignas(64) double root_re[kMaxDigits][kBlock], root_im[kMaxDigits][kBlock];
  for (std::int64_t digit = 0; digit < digits.digits; ++digit) {
    const auto t = static_cast<double>((digits.step << (4 * digit)) % digits.extent);
    for (int l = 0; l < kBlock; ++l)
      root(fraction(f[l], t, extent, 1 / extent), root_re[digit][l], root_im[digit][l]);
  }
  for (int l = 0; l < kBlock; l += V::kLanes) {
    // Works from the highest digit down. `sum` is over the indices so far, and `next` is the term of the
    // index after them.
    Phasors sum{V::broadcast(0), V::broadcast(0)}, next{V::broadcast(1), V::broadcast(0)}, terms[16];
    const Phasors zero = sum;
    for (std::int64_t digit = digits.digits - 1; digit >= 0; --digit) {
      const std::int64_t rest = (digits.indices >> (4 * digit)) % 16;
      digit_terms({V::load(root_re[digit] + l), V::load(root_im[digit] + l)}, digits.phases + 32 * digit,
                  terms);
      if (digit == 0) {
        Phasors of_set[16];
        for (std::int64_t set = 0; set < digits.sets; ++set) of_set[set] = zero;
        const Phasors both = sum + next;
        for (std::int64_t j = 0; j < 16; ++j) {
          Phasors& own = of_set[digits.weight * j & (digits.sets - 1)];
          own = own + terms[j] * (j < rest ? both : sum);
        }
        for (std::int64_t set = 0; set < digits.sets; ++set) {
          V::store(re + set * kBlock + l, of_set[set].re);
          V::store(im + set * kBlock + l, of_set[set].im);
        }
        break;
      }
      Phasors all = zero, before = zero;
      for (int j = 0; j < 16; ++j) {
        if (j == rest) before = all;
        all = all + terms[j];
      }
      sum = all * sum + before * next;
      next = terms[rest] * next;
    }
  }
}

template <class Real, bool kReal>
void compare_all(const Real* re, const Real* im, const double* predicted_re, const double* predicted_im,
                 std::int64_t count, double limit, double share, WaveRest& rest) {
  double seen[kBlock] = {}, energy[kBlock] = {}, squares[kBlock] = {}, outliers[kBlock] = {};
  for (std::int64_t i = 0; i < count; i += kBlock) {
    for (int l = 0; l < kBlock; ++l) {
      const auto x = static_cast<double>(re[i + l]);
      const double u = x - predicted_re[i + l];
      double own = x * x;
      double power = u * u;
      if constexpr (!kReal) {
        const auto y = static_cast<double>(im[i + l]);
        const double v = y - predicted_im[i + l];
        own += y * y;
        power += v * v;
      }
      seen[l] += own;
      energy[l] += power;
      squares[l] += power * power;
      outliers[l] += power <= limit + share * own ? 0.0 : 1.0;
    }
  }
  for (int l = 0; l < kBlock; ++l) {
    rest.seen += seen[l];
    rest.energy += energy[l];
    rest.squares += squares[l];
    rest.outliers += outliers[l];
  }
}

template <class Real>
void compare(const Real* re, const Real* im, const double* predicted_re, const double* predicted_im,
             std::int64_t count, double limit, double share, WaveRest& rest) {
  const auto run = im == nullptr ? compare_all<Real, true> : compare_all<Real, false>;
  run(re, im, predicted_re, predicted_im, count, limit, share, rest);
}

/// Loads a vector of samples, converted and scaled.
template <class T, class Real>
inline __attribute__((always_inline)) typename Simd<Real>::Vector load_scaled(const T* x, Real scale) {
  using V = Simd<Real>;
  typename V::Vector value;
  if constexpr (std::is_same_v<T, Real>) {
    value = V::load(x);
  } else {
    for (int l = 0; l < V::kLanes; ++l) value[l] = static_cast<Real>(x[l]);
  }
  return value * V::broadcast(scale);
}

/// `kVectors` vectors of columns over all rows, in registers.
template <class T, class Real, int kVectors>
void fold_tile(const T* x, std::int64_t rows, std::int64_t pitch, Real scale, const Real* weight_re,
               const Real* weight_im, Real* one, Real* two, double& energy) {
  using V = Simd<Real>;
  typename V::Vector a[kVectors] = {}, b[kVectors] = {}, e[kVectors] = {};
  for (std::int64_t r = 0; r < rows; ++r, x += pitch) {
    const typename V::Vector wr = V::broadcast(weight_re[r]), wi = V::broadcast(weight_im[r]);
    for (int v = 0; v < kVectors; ++v) {
      const typename V::Vector value = load_scaled<T, Real>(x + v * V::kLanes, scale);
      e[v] += value * value;
      a[v] += wr * value;
      b[v] += wi * value;
    }
  }
  for (int v = 0; v < kVectors; ++v) {
    V::store(one + v * V::kLanes, a[v]);
    V::store(two + v * V::kLanes, b[v]);
  }
  // Adds lanes as a tree, because sums of many terms of equal magnitude round less that way.
  for (int v = 1; v < kVectors; ++v) e[0] += e[v];
  double lanes[V::kLanes];
  for (int l = 0; l < V::kLanes; ++l) lanes[l] = static_cast<double>(e[0][l]);
  for (int half = V::kLanes / 2; half > 0; half /= 2) {
    for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
  }
  energy += lanes[0];
}

template <class T, class Real, int kParts>
void fold(const void* samples, std::int64_t rows, std::int64_t pitch, std::int64_t columns, double scale,
          const double* weight_re, const double* weight_im, double* re, double* im, double& energy) {
  constexpr int kLanes = Simd<Real>::kLanes;
  const auto* x = static_cast<const T*>(samples);
  const std::int64_t values = columns * kParts;
  const auto own_scale = static_cast<Real>(scale);
  Real wr[kFoldRows], wi[kFoldRows];
  for (std::int64_t r = 0; r < rows; ++r) {
    wr[r] = static_cast<Real>(weight_re[r]);
    wi[r] = static_cast<Real>(weight_im[r]);
  }
  // Sums of all parts times the weights' real and imaginary parts.
  Real one[2 * kWaveOffsets], two[2 * kWaveOffsets];
  double of_call = 0;
  std::int64_t v = 0;
  for (; v + 4 * kLanes <= values; v += 4 * kLanes)
    fold_tile<T, Real, 4>(x + v, rows, pitch * kParts, own_scale, wr, wi, one + v, two + v, of_call);
  for (; v + kLanes <= values; v += kLanes)
    fold_tile<T, Real, 1>(x + v, rows, pitch * kParts, own_scale, wr, wi, one + v, two + v, of_call);
  for (; v < values; ++v) {
    Real a = 0, b = 0, e = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      const Real value = static_cast<Real>(x[r * pitch * kParts + v]) * own_scale;
      e += value * value;
      a += wr[r] * value;
      b += wi[r] * value;
    }
    one[v] = a;
    two[v] = b;
    of_call += static_cast<double>(e);
  }
  energy += of_call;
  for (std::int64_t c = 0; c < columns; ++c) {
    if constexpr (kParts == 1) {
      re[c] += static_cast<double>(one[c]);
      im[c] += static_cast<double>(two[c]);
    } else {
      re[c] += static_cast<double>(one[2 * c]) - static_cast<double>(two[2 * c + 1]);
      im[c] += static_cast<double>(one[2 * c + 1]) + static_cast<double>(two[2 * c]);
    }
  }
}

template <class Real>
struct Bits {
  typedef std::uint32_t Type;
  static constexpr Type kMagnitude = 0x7fffffffu;
};
template <>
struct Bits<double> {
  typedef std::uint64_t Type;
  static constexpr Type kMagnitude = 0x7fffffffffffffffu;
};

template <class Real>
std::uint64_t largest(const Real* x, std::int64_t count) {
  typedef typename Bits<Real>::Type Word;
  Word max = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Word word;
    __builtin_memcpy(&word, x + i, sizeof(Real));
    word &= Bits<Real>::kMagnitude;
    max = word > max ? word : max;
  }
  return max;
}

template <class Real>
constexpr WaveKernels<Real> kTable{
    roots<Real>,
    sums<Real>,
    compare<Real>,
    {fold<std::uint8_t, float, 1>, fold<std::uint16_t, float, 1>, fold<float, float, 1>,
     fold<double, double, 1>, fold<float, float, 2>, fold<double, double, 2>, fold<std::int8_t, float, 1>,
     fold<std::int16_t, float, 1>, fold<std::int32_t, double, 1>, fold<std::int8_t, float, 2>,
     fold<std::int16_t, float, 2>, fold<OffsetByte, float, 2>},
    digit_sums,
    largest<Real>};

}  // namespace

const WaveKernels<float>& wave_table_float() noexcept {
  return kTable<float>;
}
const WaveKernels<double>& wave_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
