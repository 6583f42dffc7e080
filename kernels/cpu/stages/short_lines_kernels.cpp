// SPDX-License-Identifier: Apache-2.0
// A line is M vectors of W values: FFTs of M points across the vectors, roots, transpositions of W vectors,
// and FFTs of W points across those (the four steps of Bailey, 1990). Vectors have 32 bytes: wider ones were
// not faster.
#include "kernels/cpu/stages/short_lines.hpp"

#include <utility>

#if !defined(SFFT_ISA) || !defined(SFFT_VECTOR_BYTES)
#error "this file belongs to sources added with sfft_isa_sources()"
#endif

namespace sfft::detail::cpu::SFFT_ISA {

namespace {

constexpr double kCosines[] = {1,
                               0.99518472667219688624,
                               0.98078528040323044913,
                               0.95694033573220886494,
                               0.92387953251128675613,
                               0.88192126434835502971,
                               0.83146961230254523708,
                               0.77301045336273696081,
                               0.70710678118654752440,
                               0.63439328416364549822,
                               0.55557023301960222474,
                               0.47139673682599764856,
                               0.38268343236508977173,
                               0.29028467725446236764,
                               0.19509032201612826785,
                               0.09801714032956060199,
                               0};

/// cos(2πk/64), and sin of the same.
constexpr double cosine(int k) {
  k = k % 64;
  if (k > 32) k = 64 - k;
  return k <= 16 ? kCosines[k] : -kCosines[32 - k];
}
constexpr double sine(int k) {
  return cosine(k + 48);
}

template <class Real>
constexpr int kReals = 32 / static_cast<int>(sizeof(Real));
template <class Real>
constexpr int kWide = kReals<Real> / 2;  ///< complex values of a vector

/// exp(∓2πi·k·c/32), c = 0 … W − 1, as factors of a vector and of the same with real and imaginary parts
/// exchanged.
template <class Real>
struct Roots {
  alignas(32) Real same[kReals<Real>] = {}, exchanged[kReals<Real>] = {};

  constexpr Roots() = default;
  constexpr Roots(int k, int per_column, bool inverse) {
    for (int i = 0; i < kReals<Real>; ++i) {
      const int turn = k + i / 2 * per_column;
      // (re + i·im)(c − i·s) = re·c + im·s + i·(im·c − re·s)
      same[i] = static_cast<Real>(cosine(turn));
      exchanged[i] = static_cast<Real>((i % 2 == 0) != inverse ? sine(turn) : -sine(turn));
    }
  }
};

/// Rows k = 0 … kRows − 1: kPerRoot·k, or of columns c, kPerRoot·k·c.
template <class Real, int kRows, int kPerRoot, bool kOfColumns, bool kInverse>
struct RootRows {
  Roots<Real> rows[kRows] = {};
  constexpr RootRows() {
    for (int k = 0; k < kRows; ++k)
      rows[k] = kOfColumns ? Roots<Real>(0, k * kPerRoot, kInverse) : Roots<Real>(k * kPerRoot, 0, kInverse);
  }
};

template <class Real, bool kInverse>
struct Line {
  typedef Real Vector __attribute__((vector_size(32)));
  typedef Real Unaligned __attribute__((vector_size(32), aligned(sizeof(Real)), may_alias));
  using All = std::make_integer_sequence<int, kReals<Real>>;
  static constexpr int kWidth = kWide<Real>;

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
  /// Stretches of kLength values, the first or the second of every two, of both vectors in turn.
  template <int kLength, bool kSecond>
  struct Every {
    static constexpr int at(int i) {
      const int value = i / 2, stretch = value / kLength, pair = stretch / 2;
      return stretch % 2 * kReals<Real> + 2 * ((2 * pair + (kSecond ? 1 : 0)) * kLength + value % kLength) +
             i % 2;
    }
  };

  static Vector load(const Real* from) { return *reinterpret_cast<const Unaligned*>(from); }
  static void store(Vector value, Real* to) { *reinterpret_cast<Unaligned*>(to) = value; }
  static Vector times(Vector v, const Roots<Real>& roots) {
    return v * load(roots.same) + shuffle<Swap>(v, v) * load(roots.exchanged);
  }
  /// Times −i, or i in inverse transforms.
  static Vector turn(Vector v) {
    static constexpr Roots<Real> kQuarter(16, 0, kInverse);
    return shuffle<Swap>(v, v) * load(kQuarter.exchanged);
  }

  /// Across M vectors.
  template <int kM>
  static void fft(Vector* v) {
    if constexpr (kM == 2) {
      const Vector a = v[0], b = v[1];
      v[0] = a + b;
      v[1] = a - b;
    } else {
      static constexpr RootRows<Real, kM / 2, 64 / kM, false, kInverse> kRoots{};
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
  static void transpose(Vector* v) {
    if constexpr (kWidth == 2) {
      const Vector a = v[0], b = v[1];
      v[0] = shuffle<Every<1, false>>(a, b);
      v[1] = shuffle<Every<1, true>>(a, b);
    } else {
      const Vector a = shuffle<Every<1, false>>(v[0], v[1]), b = shuffle<Every<1, true>>(v[0], v[1]),
                   c = shuffle<Every<1, false>>(v[2], v[3]), d = shuffle<Every<1, true>>(v[2], v[3]);
      v[0] = shuffle<Every<2, false>>(a, c);
      v[1] = shuffle<Every<2, false>>(b, d);
      v[2] = shuffle<Every<2, true>>(a, c);
      v[3] = shuffle<Every<2, true>>(b, d);
    }
  }
};

template <class Real, int kPoints, bool kInverse>
void lines(const Real* from, std::int64_t stride, Real* to, std::int64_t to_stride, std::int64_t count,
           Real scale) {
  using Ops = Line<Real, kInverse>;
  constexpr int kWidth = Ops::kWidth, kM = kPoints / kWidth;
  static constexpr RootRows<Real, kM, 64 / kPoints, true, kInverse> kRoots{};
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

template <class Real, int kPoints>
constexpr void add(ShortLineKernels<Real>& table) {
  const int at = ShortLineKernels<Real>::place(kPoints);
  table.forward[at] = lines<Real, kPoints, false>;
  table.inverse[at] = lines<Real, kPoints, true>;
}

/// Lengths of which the vectors stay in registers; none where a vector has less than 32 bytes.
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
