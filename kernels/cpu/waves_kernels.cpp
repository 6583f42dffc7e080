#include "kernels/common/turns.hpp"
#include "kernels/cpu/simd.hpp"
#include "kernels/cpu/waves.hpp"

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

using V = Simd<double>;
constexpr int kLanes = V::kLanes;
constexpr double kPi = 3.14159265358979323846;
/// Adding and subtracting it rounds to the nearest integer.
constexpr double kRound = 6755399441055744.0;
/// Positions side by side.
constexpr int kBlock = 8;

/// f·t/n modulo 1, near 0, for integers 0 <= f, t < n < 2^50: the quotient may be off by one, the rest is
/// exact because a fused multiply-add does not round the product.
inline __attribute__((always_inline)) double fraction(double f, double t, double n, double inverse) {
  const double product = f * t;
  const double low = __builtin_fma(f, t, -product);
  const double quotient = (product * inverse + kRound) - kRound;
  return (__builtin_fma(-quotient, n, product) + low) * inverse;
}

void roots(const WavePoints& waves, const double* value_re, const double* value_im,
           const WavePoints& positions, const WaveGrid& grid, double* re, double* im) {
  double inverse[3];
  for (int d = 0; d < grid.rank; ++d) inverse[d] = 1 / grid.extents[d];
  for (std::int64_t i = 0; i < waves.count; ++i, re += positions.count, im += positions.count) {
    for (std::int64_t j = 0; j < positions.count; j += kBlock) {
      const std::int64_t own = positions.count - j < kBlock ? positions.count - j : kBlock;
      double turns[kBlock] = {};
      for (int d = 0; d < grid.rank; ++d) {
        double t[kBlock];
        for (std::int64_t l = 0; l < kBlock; ++l) t[l] = positions.at[d][j + (l < own ? l : 0)];
        for (int l = 0; l < kBlock; ++l)
          turns[l] += fraction(waves.at[d][i], t[l], grid.extents[d], inverse[d]);
      }
      double root_re[kBlock], root_im[kBlock];
      const double vr = value_re != nullptr ? value_re[i] : 1;
      const double vi = value_re != nullptr ? value_im[i] : 0;
      for (int l = 0; l < kBlock; ++l) {
        const double quarters = (4 * turns[l] + kRound) - kRound;
        double s, c;
        sine_cosine(2 * kPi * (turns[l] - 0.25 * quarters), s, c);
        // Quarters from −8 to 8 and those modulo 4.
        double quadrant = quarters + 8;
        quadrant = quadrant >= 8 ? quadrant - 8 : quadrant;
        quadrant = quadrant >= 8 ? quadrant - 8 : quadrant;
        quadrant = quadrant >= 4 ? quadrant - 4 : quadrant;
        const bool odd = quadrant == 1 || quadrant == 3;
        const double sign_re = quadrant == 1 || quadrant == 2 ? -1.0 : 1.0;
        const double sign_im = quadrant >= 2 ? -1.0 : 1.0;
        const double x = sign_re * (odd ? s : c);
        const double y = sign_im * (odd ? c : s);
        root_re[l] = vr * x - vi * y;
        root_im[l] = vr * y + vi * x;
      }
      for (std::int64_t l = 0; l < own; ++l) {
        re[j + l] = root_re[l];
        im[j + l] = root_im[l];
      }
    }
  }
}

/// `kRows` anchors by `kVectors` vectors of offsets, in registers.
template <int kRows, int kVectors, bool kReal>
void tile(const WaveTables& tables, std::int64_t anchor, std::int64_t offset, double* re, double* im) {
  V::Vector sum_re[kRows][kVectors], sum_im[kRows][kVectors];
  for (int a = 0; a < kRows; ++a) {
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t at = (anchor + a) * tables.offsets + offset + v * kLanes;
      sum_re[a][v] = V::load(re + at);
      if constexpr (!kReal) sum_im[a][v] = V::load(im + at);
    }
  }
  const double* first_re = tables.first_re + anchor;
  const double* first_im = tables.first_im + anchor;
  const double* second_re = tables.second_re + offset;
  const double* second_im = tables.second_im + offset;
  for (std::int64_t i = 0; i < tables.waves; ++i) {
    V::Vector vr[kVectors], vi[kVectors];
    for (int v = 0; v < kVectors; ++v) {
      vr[v] = V::load(second_re + v * kLanes);
      vi[v] = V::load(second_im + v * kLanes);
    }
    for (int a = 0; a < kRows; ++a) {
      const V::Vector wr = V::broadcast(first_re[a]);
      const V::Vector wi = V::broadcast(first_im[a]);
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
    second_re += tables.offsets;
    second_im += tables.offsets;
  }
  for (int a = 0; a < kRows; ++a) {
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t at = (anchor + a) * tables.offsets + offset + v * kLanes;
      V::store(re + at, sum_re[a][v]);
      if constexpr (!kReal) V::store(im + at, sum_im[a][v]);
    }
  }
}

template <bool kReal>
void sums_of(const WaveTables& tables, double* re, double* im) {
  // What the registers of the instruction set hold.
  constexpr int kVectors = kLanes == 8 ? 4 : 2;
  for (std::int64_t offset = 0; offset < tables.offsets; offset += kVectors * kLanes) {
    std::int64_t anchor = 0;
    for (; anchor + 2 <= tables.anchors; anchor += 2)
      tile<2, kVectors, kReal>(tables, anchor, offset, re, im);
    for (; anchor < tables.anchors; ++anchor) tile<1, kVectors, kReal>(tables, anchor, offset, re, im);
  }
}

void sums(const WaveTables& tables, double* re, double* im) {
  im == nullptr ? sums_of<true>(tables, re, im) : sums_of<false>(tables, re, im);
}

template <class T, int kParts>
double energy_of(const void* samples, std::int64_t count, double scale) {
  const auto* x = static_cast<const T*>(samples);
  const std::int64_t values = count * kParts;
  // Side by side: one sum would wait for itself at every term, and round more.
  constexpr std::int64_t kSums = 32;
  double part[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= values; i += kSums) {
    for (std::int64_t l = 0; l < kSums; ++l) {
      const double value = scale * static_cast<double>(x[i + l]);
      part[l] += value * value;
    }
  }
  for (std::int64_t l = 0; i < values; ++i, ++l) {
    const double value = scale * static_cast<double>(x[i]);
    part[l] += value * value;
  }
  double sum = 0;
  for (std::int64_t l = 0; l < kSums; ++l) sum += part[l];
  return sum;
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
constexpr WaveKernels<Real> kTable{
    roots,
    sums,
    {energy_of<std::uint8_t, 1>, energy_of<std::uint16_t, 1>, energy_of<float, 1>, energy_of<double, 1>,
     energy_of<float, 2>, energy_of<double, 2>},
    largest<Real>};

}  // namespace

const WaveKernels<float>& wave_table_float() noexcept {
  return kTable<float>;
}
const WaveKernels<double>& wave_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
