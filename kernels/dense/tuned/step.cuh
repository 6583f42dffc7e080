// One step through memory: tiles of lines are read, transformed and written.
//
// A Step, generated (source.cpp), says
//   Line                    how its lines are transformed (line_fft.cuh)
//   In, Out                 Side: which buffer, and the strides of groups, outer and inner lines, elements
//   kOuter, kInner          lines of a group; kInner = 0: as many as the arguments say
//   kMirrorRows, kMirrorPlanes   not 0: the grid of the rows of half a spectrum
//   kLoad, kStore, Element  what is read and written; Element is the type of real samples
//   kSwapIn, kSwapOut       exchange real and imaginary parts: an inverse FFT is a forward one between two
//                           exchanges
//   kScale                  multiply results by the scale
//   kTurnModulus, …         twiddle factors between the steps of a long line: output k of a line is turned by
//                           k·(group kTurnGroup + outer kTurnOuter + inner kTurnInner)/kTurnModulus
//   kMethod, kPoints        plain, or a convolution for lines of kPoints points that have no good factors
//   kStageLoad, kStageStore copy whole tiles through shared memory, so that short lines are read in order
//   kKeep, kSpectrum        results are not stored: a part of them is kept; elements of a spectrum
//   kLoads, kStreaming      how memory is read, and whether what is read or written once is marked so
#pragma once

#include "kernels/cuda/keep.cuh"
#include "kernels/dense/tuned/arguments.cuh"
#include "kernels/dense/tuned/line_fft.cuh"

namespace sfft::device {

enum class Buffer { input, output, scratch };
/// complex: as they are. pairs: real samples 2j and 2j+1 as one complex value. real: with imaginary part 0.
/// half_pairs: half a spectrum of 2n points, for real results by pairs. half: of n points, n odd.
enum class Load { complex, pairs, real, half_pairs, half };
/// pairs, real: of real results. half_pairs, half: of real lines of 2n points, or of n.
enum class Store { complex, pairs, real, half_pairs, half };
enum class Method { plain, bluestein, rader };

template <Buffer kBufferOf, long long kGroupStride, long long kOuterStride, long long kInnerStride,
          long long kElementStride, int kSlotCount, long long kOffset>
struct Side {
  static constexpr Buffer kBuffer = kBufferOf;
  static constexpr bool kRing = kSlotCount > 0;
  static constexpr long long kElement = kElementStride, kNextLine = kInnerStride;
  /// Of a line. A ring keeps kSlotCount groups.
  static __device__ __forceinline__ long long place(long long group, long long outer, long long inner) {
    if constexpr (kSlotCount > 0) group %= kSlotCount;
    return kOffset + group * kGroupStride + outer * kOuterStride + inner * kInnerStride;
  }
};

/// How a step reads and writes memory. past_l1: takes no place in the L1 cache. prefetch: 256 bytes are
/// brought to the L2 cache. once: leaves the caches first.
enum class Access { usual, past_l1, prefetch, once };

// Loads with qualifiers are assembly, volatile: none may go before the wait for the previous kernel.
#define SFFT_LOAD(QUALIFIED)                                                                          \
  if constexpr (sizeof(T) == 1) {                                                                     \
    asm volatile(QUALIFIED ".u8 %0, [%1];" : "=r"(u.word[0]) : "l"(from));                            \
  } else if constexpr (sizeof(T) == 2) {                                                              \
    asm volatile(QUALIFIED ".u16 %0, [%1];" : "=r"(u.word[0]) : "l"(from));                           \
  } else if constexpr (sizeof(T) == 4) {                                                              \
    asm volatile(QUALIFIED ".u32 %0, [%1];" : "=r"(u.word[0]) : "l"(from));                           \
  } else if constexpr (sizeof(T) == 8) {                                                              \
    asm volatile(QUALIFIED ".v2.u32 {%0, %1}, [%2];" : "=r"(u.word[0]), "=r"(u.word[1]) : "l"(from)); \
  } else {                                                                                            \
    asm volatile(QUALIFIED ".v4.u32 {%0, %1, %2, %3}, [%4];"                                          \
                 : "=r"(u.word[0]), "=r"(u.word[1]), "=r"(u.word[2]), "=r"(u.word[3])                 \
                 : "l"(from));                                                                        \
  }

/// T of 1 to 16 bytes, a power of two.
template <Access kAccess, class T>
__device__ __forceinline__ T load_as(const T* from) {
  union {
    unsigned word[(sizeof(T) + 3) / 4];
    T value;
  } u;
  if constexpr (kAccess == Access::past_l1) {
    SFFT_LOAD("ld.global.L1::no_allocate")
  } else if constexpr (kAccess == Access::prefetch) {
#if __CUDA_ARCH__ >= 800
    SFFT_LOAD("ld.global.L2::256B")
#else
    SFFT_LOAD("ld.global.L2::128B")
#endif
  } else if constexpr (kAccess == Access::once) {
    u.value = __ldcs(from);
  } else {
    u.value = *from;
  }
  return u.value;
}
#undef SFFT_LOAD

template <Access kAccess, class T>
__device__ __forceinline__ void store_as(T* to, const T& value) {
  if constexpr (kAccess == Access::once) {
    __stcs(to, value);
  } else {
    *to = value;
  }
}

template <class T>
struct Pair;
template <>
struct Pair<unsigned char> {
  using type = uchar2;
};
template <>
struct Pair<unsigned short> {
  using type = ushort2;
};
template <>
struct Pair<float> {
  using type = float2;
};
template <>
struct Pair<double> {
  using type = double2;
};

/// One tile of a step: where it is and how to read and write its elements.
template <class Step>
class Tile {
 public:
  using Line = typename Step::Line;
  using Real = typename Line::Real;
  using Value = Complex<Real>;
  using Vector = typename Pair<Real>::type;
  static constexpr int kPoints = Step::kPoints;
  static constexpr Access kReads = Step::kLoads != Access::usual          ? Step::kLoads
                                   : Step::kStreaming && !Step::In::kRing ? Access::once
                                                                          : Access::usual;
  static constexpr Access kWrites = Step::kStreaming && !Step::Out::kRing ? Access::once : Access::usual;
  /// Lines 2q and 2q + 1 are rows that mirror each other.
  static constexpr bool kPaired = Step::kMirrorRows > 0 &&
                                  (Step::kLoad == Load::half_pairs || Step::kStore == Store::half_pairs);

  __device__ __forceinline__ Tile(const Arguments& a, long long group, long long tile)
      : kept_(a.kept), group_(group), scale_(static_cast<Real>(a.scale)) {
    const long long inner_lines = Step::kInner > 0 ? Step::kInner : a.lines;
    const long long inner_tiles = (inner_lines + Line::kLines - 1) / Line::kLines;
    outer_ = Step::kOuter > 1 ? tile / inner_tiles : 0;
    inner_ = (Step::kOuter > 1 ? tile % inner_tiles : tile) * Line::kLines;
    const long long left = inner_lines - inner_;
    lines_ = left < Line::kLines ? static_cast<int>(left) : Line::kLines;
    from_ = Step::In::kBuffer == Buffer::input ? a.input
                                               : (Step::In::kBuffer == Buffer::output ? a.output : a.scratch);
    to_ = Step::Out::kBuffer == Buffer::output ? a.output : a.scratch;
  }

  __device__ __forceinline__ bool has(int line) const { return line < lines_; }
  __device__ __forceinline__ int lines() const { return lines_; }
  __device__ __forceinline__ long long turn_of(int line) const {
    return group_ * Step::kTurnGroup + outer_ * Step::kTurnOuter + (inner_ + line) * Step::kTurnInner;
  }

  /// Whether element n − k of a line's mirror is written as an element of a line, too: of a plane that is its
  /// own mirror all rows are lines, of a single plane half of them, the first and the middle one with itself.
  __device__ __forceinline__ bool comes_twice(int line, int k) const {
    if constexpr (!kPaired) return 2 * k == kPoints;
    if constexpr (Step::kMirrorPlanes > 1) return outer_ == 0 || 2 * outer_ == Step::kMirrorPlanes;
    const long long row = (inner_ + line) >> 1;
    return row == 0 || 2 * row == Step::kMirrorRows;
  }

  /// Element j of a line, exchanged where the step says so.
  __device__ __forceinline__ Value load(int line, int j) const {
    Value z{0, 0};
    if constexpr (Step::kLoad == Load::pairs) {
      using Element = typename Step::Element;
      const auto* samples = static_cast<const Element*>(from_) + place<typename Step::In>(line, false);
      if constexpr (Step::kVector) {
        const auto pair = load_as<kReads>(
            reinterpret_cast<const typename Pair<Element>::type*>(samples + j * Step::In::kElement));
        z = {static_cast<Real>(pair.x), static_cast<Real>(pair.y)};
      } else {
        samples += j * Step::In::kElement;
        z = {static_cast<Real>(load_as<kReads>(samples)),
             static_cast<Real>(load_as<kReads>(samples + Step::kPairStride))};
      }
    } else if constexpr (Step::kLoad == Load::real) {
      using Element = typename Step::Element;
      z.re =
          static_cast<Real>(load_as<kReads>(static_cast<const Element*>(from_) +
                                            place<typename Step::In>(line, false) + j * Step::In::kElement));
    } else {
      // The other half of a spectrum is in the mirrored row.
      const bool mirrored = Step::kLoad == Load::half && 2 * j > kPoints;
      const Vector v =
          load_as<kReads>(static_cast<const Vector*>(from_) + place<typename Step::In>(line, mirrored) +
                          (mirrored ? kPoints - j : j) * Step::In::kElement);
      z = {v.x, mirrored ? -v.y : v.y};
    }
    // Half spectra of pairs are exchanged after they are tangled.
    if constexpr (Step::kSwapIn && Step::kLoad != Load::half_pairs) return {z.im, z.re};
    return z;
  }

  __device__ __forceinline__ void store(int line, int j, Value z) const {
    if constexpr (Step::kSwapOut) z = {z.im, z.re};
    if constexpr (Step::kScale) z = {z.re * scale_, z.im * scale_};
    const long long at = place<typename Step::Out>(line, false) + j * Step::Out::kElement;
    if constexpr (Step::kStore == Store::pairs) {
      Real* samples = static_cast<Real*>(to_) + at;
      if constexpr (Step::kVector) {
        store_as<kWrites>(reinterpret_cast<Vector*>(samples), Vector{z.re, z.im});
      } else {
        store_as<kWrites>(samples, z.re);
        store_as<kWrites>(samples + Step::kPairStride, z.im);
      }
    } else if constexpr (Step::kStore == Store::real) {
      store_as<kWrites>(static_cast<Real*>(to_) + at, z.re);
    } else {
      if (Step::kStore == Store::half && 2 * j > kPoints) return;
      if constexpr (Step::kKeep != Keep::all) {
        keep<Step::kKeep, Value>(kept_, at, Step::kSpectrum, z.re, z.im);
      } else {
        store_as<kWrites>(static_cast<Vector*>(to_) + at, Vector{z.re, z.im});
      }
    }
  }

 private:
  /// Of a line's first element, or of its mirror's.
  template <class Side>
  __device__ __forceinline__ long long place(int line, bool mirrored) const {
    long long outer = outer_, row = inner_ + line;
    if constexpr (Step::kMirrorRows > 0) {
      if constexpr (kPaired) {
        mirrored = (row & 1) != 0;
        row >>= 1;
      }
      if (mirrored) {
        row = row == 0 ? 0 : Step::kMirrorRows - row;
        outer = outer == 0 ? 0 : Step::kMirrorPlanes - outer;
      }
    }
    return Side::place(group_, outer, row);
  }

  const KeptPart& kept_;
  const void* from_;
  void* to_;
  long long group_, outer_, inner_;
  int lines_;
  Real scale_;
};

}  // namespace sfft::device
