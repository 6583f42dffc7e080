// SPDX-License-Identifier: Apache-2.0
// Phases come from exact fractions and a sine without branches; sums over waves are tiles of anchors by
// offsets in registers.
#include "kernels/base/turns.hpp"
#include "kernels/cpu/platform/simd.hpp"
#include "kernels/cpu/stages/waves.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

constexpr double kPi = 3.14159265358979323846;
/// Adding and subtracting this rounds to the nearest integer.
constexpr double kRound = 6755399441055744.0;
/// Positions side by side.
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
  // Half the quarters, rounded down: odd where the signs change.
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

template <class T, int kParts>
void whole(const void* samples, std::int64_t count, double scale, const double* first, const double* second,
           double sums[3]) {
  const auto* x = static_cast<const T*>(samples);
  const std::int64_t values = count * kParts;
  // Parallel sums: a single one would wait for itself at every term, and round more.
  constexpr std::int64_t kSums = 16;
  double energy[kSums] = {}, one[kSums] = {}, two[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= values; i += kSums) {
    for (std::int64_t l = 0; l < kSums; ++l) {
      const double value = scale * static_cast<double>(x[i + l]);
      energy[l] += value * value;
      one[l] += value * first[i + l];
      two[l] += value * second[i + l];
    }
  }
  for (std::int64_t l = 0; i < values; ++i, ++l) {
    const double value = scale * static_cast<double>(x[i]);
    energy[l] += value * value;
    one[l] += value * first[i];
    two[l] += value * second[i];
  }
  for (std::int64_t l = 0; l < kSums; ++l) {
    sums[0] += energy[l];
    sums[1] += one[l];
    sums[2] += two[l];
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
  Word most = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    Word word;
    __builtin_memcpy(&word, x + i, sizeof(Real));
    word &= Bits<Real>::kMagnitude;
    most = word > most ? word : most;
  }
  return most;
}

template <class Real>
constexpr WaveKernels<Real> kTable{roots<Real>,
                                   sums<Real>,
                                   compare<Real>,
                                   {whole<std::uint8_t, 1>, whole<std::uint16_t, 1>, whole<float, 1>,
                                    whole<double, 1>, whole<float, 2>, whole<double, 2>},
                                   largest<Real>};

}  // namespace

const WaveKernels<float>& wave_table_float() noexcept {
  return kTable<float>;
}
const WaveKernels<double>& wave_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
