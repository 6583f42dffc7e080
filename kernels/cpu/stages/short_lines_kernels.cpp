// SPDX-License-Identifier: Apache-2.0
// A line is M vectors of W values: FFTs of M points across the vectors, roots, transpositions of W vectors,
// and FFTs of W points across those (the four steps of Bailey, 1990). Vectors have 32 bytes, or 64 for the
// longest lines; shorter lines were not faster with 64.
#include "kernels/cpu/stages/short_lines.hpp"

#include <utility>

#if !defined(SFFT_ISA) || !defined(SFFT_VECTOR_BYTES)
#error "this file belongs to sources added with sfft_isa_sources()"
#endif

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

/// The number of parts of a full turn.
constexpr int kTurn = 128;

constexpr double kCosines[] = {1,
                               0.99879545620517239271,
                               0.99518472667219688624,
                               0.98917650996478097345,
                               0.98078528040323044913,
                               0.9700312531945439926,
                               0.95694033573220886494,
                               0.94154406518302077841,
                               0.92387953251128675613,
                               0.90398929312344333159,
                               0.88192126434835502971,
                               0.8577286100002720699,
                               0.83146961230254523708,
                               0.80320753148064490981,
                               0.77301045336273696081,
                               0.74095112535495909118,
                               0.7071067811865475244,
                               0.67155895484701840063,
                               0.63439328416364549822,
                               0.59569930449243334347,
                               0.55557023301960222474,
                               0.51410274419322172659,
                               0.47139673682599764856,
                               0.42755509343028209432,
                               0.38268343236508977173,
                               0.33688985339222005069,
                               0.29028467725446236764,
                               0.24298017990326388995,
                               0.19509032201612826785,
                               0.14673047445536175166,
                               0.098017140329560601994,
                               0.049067674327418014255,
                               0};

/// cos(2πk/128); sine() is sin of the same angle.
constexpr double cosine(int k) {
  k = k % kTurn;
  if (k > kTurn / 2) k = kTurn - k;
  return k <= kTurn / 4 ? kCosines[k] : -kCosines[kTurn / 2 - k];
}
[[maybe_unused]] constexpr double sine(int k) {  // used in constant expressions alone
  return cosine(k + 3 * kTurn / 4);
}

template <class Real, int kBytes>
[[maybe_unused]] constexpr int kReals = kBytes / static_cast<int>(sizeof(Real));
template <class Real, int kBytes>
[[maybe_unused]] constexpr int kWide = kReals<Real, kBytes> / 2;  ///< complex values per vector

/// exp(∓2πi·(k + c·per_column)/128), c = 0 … W − 1: factors for a vector, and for the same vector with real
/// and imaginary parts exchanged.
template <class Real, int kBytes>
struct Roots {
  alignas(kBytes) Real same[kReals<Real, kBytes>] = {}, exchanged[kReals<Real, kBytes>] = {};

  constexpr Roots() = default;
  constexpr Roots(int k, int per_column, bool inverse) {
    for (int i = 0; i < kReals<Real, kBytes>; ++i) {
      const int turn = k + i / 2 * per_column;
      // (re + i·im)(c − i·s) = re·c + im·s + i·(im·c − re·s)
      same[i] = static_cast<Real>(cosine(turn));
      exchanged[i] = static_cast<Real>((i % 2 == 0) != inverse ? sine(turn) : -sine(turn));
    }
  }
};

/// Rows k = 0 … kRows − 1: kPerRoot·k, or kPerRoot·k·c for columns c.
template <class Real, int kBytes, int kRows, int kPerRoot, bool kOfColumns, bool kInverse>
struct RootRows {
  Roots<Real, kBytes> rows[kRows] = {};
  constexpr RootRows() {
    for (int k = 0; k < kRows; ++k)
      rows[k] = kOfColumns ? Roots<Real, kBytes>(0, k * kPerRoot, kInverse)
                           : Roots<Real, kBytes>(k * kPerRoot, 0, kInverse);
  }
};

template <class Real, int kBytes, bool kInverse>
struct Line {
  typedef Real Vector __attribute__((vector_size(kBytes)));
  typedef Real Unaligned __attribute__((vector_size(kBytes), aligned(sizeof(Real)), may_alias));
  using All = std::make_integer_sequence<int, kReals<Real, kBytes>>;
  static constexpr int kWidth = kWide<Real, kBytes>;

  template <class Index, int... kAt>
  static Vector shuffled(Vector a, Vector b, std::integer_sequence<int, kAt...>) {
    return __builtin_shufflevector(a, b, Index::at(kAt)...);
  }
  template <class Index>
  static Vector shuffle(Vector a, Vector b) {
    return shuffled<Index>(a, b, All{});
  }
  struct Swap {
    static constexpr int at(int i) { return i ^ 1; }
  };
  /// Takes runs of kLength values, the first or second of every two, alternately from both vectors.
  template <int kLength, bool kSecond>
  struct Every {
    static constexpr int at(int i) {
      const int value = i / 2, stretch = value / kLength, pair = stretch / 2;
      return stretch % 2 * kReals<Real, kBytes> +
             2 * ((2 * pair + (kSecond ? 1 : 0)) * kLength + value % kLength) + i % 2;
    }
  };

  static Vector load(const Real* from) { return *reinterpret_cast<const Unaligned*>(from); }
  static void store(Vector value, Real* to) { *reinterpret_cast<Unaligned*>(to) = value; }
  static Vector times(Vector v, const Roots<Real, kBytes>& roots) {
    return v * load(roots.same) + shuffle<Swap>(v, v) * load(roots.exchanged);
  }
  /// Multiplies by −i, or by i in inverse transforms.
  static Vector turn(Vector v) {
    static constexpr Roots<Real, kBytes> kQuarter(kTurn / 4, 0, kInverse);
    return shuffle<Swap>(v, v) * load(kQuarter.exchanged);
  }

  /// FFTs across M vectors.
  template <int kM>
  static void fft(Vector* v) {
    if constexpr (kM == 2) {
      const Vector a = v[0], b = v[1];
      v[0] = a + b;
      v[1] = a - b;
    } else {
      static constexpr RootRows<Real, kBytes, kM / 2, kTurn / kM, false, kInverse> kRoots{};
      Vector even[kM / 2], odd[kM / 2];
      for (int k = 0; k < kM / 2; ++k) {
        even[k] = v[2 * k];
        odd[k] = v[2 * k + 1];
      }
      fft<kM / 2>(even);
      fft<kM / 2>(odd);
      for (int k = 0; k < kM / 2; ++k) {
        const Vector turned = k == 0 ? odd[k] : 4 * k == kM ? turn(odd[k]) : times(odd[k], kRoots.rows[k]);
        v[k] = even[k] + turned;
        v[k + kM / 2] = even[k] - turned;
      }
    }
  }
  /// Transposes W vectors: exchanges single values, then pairs of them, and so on.
  template <int kLength = 1>
  static void transpose(Vector* v) {
    if constexpr (kLength < kWidth) {
      for (int first = 0; first < kWidth; ++first) {
        if (first / kLength % 2 != 0) continue;
        const Vector a = v[first], b = v[first + kLength];
        v[first] = shuffle<Every<kLength, false>>(a, b);
        v[first + kLength] = shuffle<Every<kLength, true>>(a, b);
      }
      transpose<2 * kLength>(v);
    }
  }
};

template <class Real, int kPoints, int kBytes, bool kInverse>
void lines(const Real* from, std::int64_t stride, Real* to, std::int64_t to_stride, std::int64_t count,
           Real scale) {
  using Ops = Line<Real, kBytes, kInverse>;
  constexpr int kWidth = Ops::kWidth, kM = kPoints / kWidth;
  static constexpr RootRows<Real, kBytes, kM, kTurn / kPoints, true, kInverse> kRoots{};
  for (; count > 0; --count, from += 2 * stride, to += 2 * to_stride) {
    typename Ops::Vector v[kM];
    for (int r = 0; r < kM; ++r) v[r] = Ops::load(from + 2 * kWidth * r);
    if (scale != 1) {
      for (int r = 0; r < kM; ++r) v[r] *= scale;
    }
    Ops::template fft<kM>(v);
    for (int r = 1; r < kM; ++r) v[r] = Ops::times(v[r], kRoots.rows[r]);
    for (int g = 0; g < kM; g += kWidth) {
      Ops::transpose(v + g);
      Ops::template fft<kWidth>(v + g);
      for (int k = 0; k < kWidth; ++k) Ops::store(v[g + k], to + 2 * (kM * k + g));
    }
  }
}

template <class Real, int kPoints, int kBytes = 32>
constexpr void add(ShortLineKernels<Real>& table) {
  const int at = ShortLineKernels<Real>::place(kPoints);
  table.forward[at] = lines<Real, kPoints, kBytes, false>;
  table.inverse[at] = lines<Real, kPoints, kBytes, true>;
}

/// Lengths whose vectors stay in registers; none if a vector has less than 32 bytes.
template <class Real>
constexpr ShortLineKernels<Real> table() {
  ShortLineKernels<Real> table;
  if constexpr (SFFT_VECTOR_BYTES >= 32) {
    add<Real, 16>(table);
    add<Real, 32>(table);
    if constexpr (sizeof(Real) == 4) {
      add<Real, 64>(table);
    } else {
      add<Real, 4>(table);
      add<Real, 8>(table);
    }
  }
  if constexpr (SFFT_VECTOR_BYTES >= 64) {
    if constexpr (sizeof(Real) == 4) {
      add<Real, 128, 64>(table);
    } else {
      add<Real, 32, 64>(table);
      add<Real, 64, 64>(table);
    }
  }
  return table;
}
template <class Real>
constexpr ShortLineKernels<Real> kTable = table<Real>();

}  // namespace

const ShortLineKernels<float>& short_line_table_float() noexcept {
  return kTable<float>;
}
const ShortLineKernels<double>& short_line_table_double() noexcept {
  return kTable<double>;
}

}  // namespace sfft::detail::cpu::SFFT_ISA
