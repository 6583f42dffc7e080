// SPDX-License-Identifier: Apache-2.0
// One step through memory: tiles of lines are read, transformed and written.
//
// A Step, generated (source.cpp), says
//   Line, Back              how its lines are transformed (line_fft.cuh); the way back of a convolution
//   End                     the pass whose outputs are the results
//   In, Out                 Side: which buffer, and the strides of groups, outer and inner lines, elements
//   kOuter, kInner, kTiles  lines and tiles of a group; 0: as many as the arguments say
//   kMirrorRows, kMirrorPlanes   not 0: the grid of the rows of half a spectrum
//   kLoad, kStore, Element  what is read and written; Element is the type of real samples
//   kVector, kPairStride    pairs of samples are read and written as one; otherwise they lie so far apart
//   kSwapIn, kSwapOut       exchange real and imaginary parts: an inverse FFT is a forward one between two
//                           exchanges
//   kScale                  multiply results by the scale
//   kTurnModulus, …         twiddle factors between the steps of a long line: output k of a line is turned by
//                           k·(group kTurnGroup + outer kTurnOuter + inner kTurnInner)/kTurnModulus
//   kMethod, kPoints        plain, or a convolution for lines of kPoints points that have no good factors
//   kStaged                 tiles pass through shared memory, to be read and written in the order of memory
//   kAcross                 staged; neighbouring threads hold neighbouring lines, not points
//   kPlaces                 Rader's permutations of a line go through places that are computed for them
//   kKeep, kSpectrum        results are not stored: a part of them is kept; elements of a spectrum
//   kReadAhead, kExchangeBytes   blocks stay, and read their next tile, to behind so many bytes of shared
//                           memory, while they transform one
//   kBeginEarly             blocks bring their input to the L2 cache while the kernel before ends
//   kPrefetch               blocks bring the input of a later tile to the L2 cache
//   kDelay                  the first blocks begin one after the other
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

/// Where the i-th of what is counted lies (program.hpp).
template <long long kStrideOf, int kFoldOf = 0, long long kOver = 0>
struct Digits {
  static constexpr long long kStride = kStrideOf;
  static constexpr int kFold = kFoldOf;
  static constexpr long long kPlain = kFold == 0 ? kStride : 0;  ///< the only stride
  template <class I>
  static __device__ constexpr long long at(I i) {
    if constexpr (kFold == 0) {
      return i * kStride;
    } else {
      const auto n = static_cast<unsigned>(i);
      return n % kFold * kStride + n / kFold * kOver;
    }
  }
};

template <Buffer kBufferOf, long long kGroupStride, long long kOuterStride, class InnerOf, class ElementOf,
          int kSlotCount, long long kOffset, bool kBetweenSteps>
struct Side {
  using Inner = InnerOf;      ///< lines beside each other
  using Element = ElementOf;  ///< elements of a line
  static constexpr Buffer kBuffer = kBufferOf;
  static constexpr bool kBetween = kBetweenSteps;  ///< by turns: to be found in the L2 cache
  /// Of a line. A ring keeps kSlotCount groups.
  static __device__ __forceinline__ long long place(long long group, long long outer, long long inner) {
    if constexpr (kSlotCount > 0) group %= kSlotCount;
    return kOffset + group * kGroupStride + outer * kOuterStride + Inner::at(inner);
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

/// Begins to copy a word to shared memory; await_copies() waits for the thread's own.
template <bool kPrefetch>
__device__ __forceinline__ void copy_async(uint4* to, const uint4* from) {
#if __CUDA_ARCH__ >= 800
  const auto shared = static_cast<unsigned>(__cvta_generic_to_shared(to));
  if constexpr (kPrefetch) {
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
  } else {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
  }
#else
  *to = *from;
#endif
}
__device__ __forceinline__ void await_copies() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

__device__ __forceinline__ void prefetch_l2(const char* line) {
#ifdef __CUDA_ARCH__
  asm volatile("prefetch.global.L2 [%0];" ::"l"(line));
#else
  (void)*static_cast<const volatile char*>(line);  // emulated: the address must be readable
#endif
}

/// The same value, of which the compiler knows nothing: what is made of it is computed again, not kept in
/// registers.
__device__ __forceinline__ unsigned forgotten(unsigned value) {
  asm volatile("" : "+r"(value));
  return value;
}

/// One tile of a step: where it is and how to read and write its elements.
template <class Step>
class Tile {
 public:
  using Line = typename Step::Line;
  using Real = typename Line::Real;
  using Value = Complex<Real>;
  using Vector = typename Pair<Real>::type;
  using Samples = typename Pair<typename Step::Element>::type;
  static constexpr int kPoints = Step::kPoints;
  static constexpr int kBlock = Line::kThreads * Line::kLines;  ///< threads
  static constexpr Access kReads = Step::kLoads != Access::usual             ? Step::kLoads
                                   : Step::kStreaming && !Step::In::kBetween ? Access::once
                                                                             : Access::usual;
  static constexpr Access kWrites = Step::kStreaming && !Step::Out::kBetween ? Access::once : Access::usual;
  /// Known to be no tile in part.
  static constexpr bool kWhole = Line::kLines == 1 || (Step::kInner > 0 && Step::kInner % Line::kLines == 0);
  /// Lines 2q and 2q + 1 are rows that mirror each other.
  static constexpr bool kPaired = Step::kMirrorRows > 0 &&
                                  (Step::kLoad == Load::half_pairs || Step::kStore == Store::half_pairs);

  /// `tile` counts through the groups of a launch.
  __device__ __forceinline__ Tile(const Arguments& a, unsigned tile)
      : kept_(a.kept), group_(0), outer_(0), scale_(static_cast<Real>(a.scale)) {
    if constexpr (Step::kTiles > 0) {  // a launch has less than 2^31
      constexpr auto kTiles = static_cast<unsigned>(Step::kTiles);
      group_ = a.first_group + tile / kTiles;
      tile %= kTiles;
    }
    if constexpr (Step::kOuter > 1) {
      constexpr auto kTiles = static_cast<unsigned>(Step::kTiles / Step::kOuter);
      outer_ = tile / kTiles;
      tile %= kTiles;
    }
    inner_ = static_cast<long long>(tile) * Line::kLines;
    const long long left = (Step::kInner > 0 ? Step::kInner : a.lines) - inner_;
    lines_ = kWhole || left >= Line::kLines ? Line::kLines : static_cast<int>(left);
    from_ = Step::In::kBuffer == Buffer::input ? a.input
                                               : (Step::In::kBuffer == Buffer::output ? a.output : a.scratch);
    to_ = Step::Out::kBuffer == Buffer::output ? a.output : a.scratch;
  }

  static __device__ __forceinline__ Value value(const Samples& pair) {
    return {static_cast<Real>(pair.x), static_cast<Real>(pair.y)};
  }
  __device__ __forceinline__ bool has(int line) const { return kWhole || line < lines_; }
  /// The line, or the last one of a tile in part: what is computed of it is not stored.
  __device__ __forceinline__ int readable(int line) const {
    return kWhole || line < lines_ ? line : lines_ - 1;
  }
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

  /// Pair j of samples of a line, as it lies in memory.
  __device__ __forceinline__ const Samples* samples(int line, int j) const {
    return reinterpret_cast<const Samples*>(read<typename Step::Element>(line, j, 0));
  }

  /// Brings the input to the L2 cache, where later writes of others still reach it: complex numbers or pairs
  /// that are neighbours, of a line or, point by point, of all lines.
  __device__ __forceinline__ void prefetch() const {
    constexpr int kUnit = Step::kLoad == Load::pairs ? sizeof(Samples) : sizeof(Vector), kLineOfCache = 128;
    using Element = typename Step::In::Element;
    constexpr int kBeside = Line::kLoadByLine ? Line::kLines : 1;
    constexpr bool kFolded = Element::kFold > 0 && Element::kStride == kBeside;
    constexpr int kPointsOfRun = kFolded ? Element::kFold : Line::kLoadByLine ? 1 : kPoints;
    constexpr int kRuns = kPoints / kPointsOfRun;  ///< of a line, or of lines side by side
    constexpr int kRun = kBeside * kPointsOfRun * kUnit;
    constexpr int kParts = (kRun + kLineOfCache - 1) / kLineOfCache;
    const int runs = Line::kLoadByLine ? kRuns : kRuns * lines_;
    for (int i = static_cast<int>(threadIdx.x); i < kParts * runs; i += kBlock) {
      const int run = i / kParts, part = i % kParts * kLineOfCache;
      if (Line::kLoadByLine && !kWhole && part >= lines_ * kUnit) continue;
      const int line = Line::kLoadByLine ? 0 : run / kRuns;
      const int j = (Line::kLoadByLine ? run : run % kRuns) * kPointsOfRun;
      if constexpr (Step::kLoad == Load::pairs) {
        prefetch_l2(reinterpret_cast<const char*>(samples(line, j)) + part);
      } else {
        prefetch_l2(reinterpret_cast<const char*>(read<Vector>(line, j, 0)) + part);
      }
    }
  }

  /// Element first + add of a line, exchanged where the step says so. Where `add` is a constant it costs no
  /// arithmetic.
  __device__ __forceinline__ Value load(int line, int first, int add = 0) const {
    using Element = typename Step::Element;
    Value z{0, 0};
    if constexpr (Step::kLoad == Load::pairs) {
      const auto* pair = read<Element>(line, first, add);
      if constexpr (Step::kVector) {
        z = value(load_as<kReads>(reinterpret_cast<const Samples*>(pair)));
      } else {
        z = {static_cast<Real>(load_as<kReads>(pair)),
             static_cast<Real>(load_as<kReads>(pair + Step::kPairStride))};
      }
    } else if constexpr (Step::kLoad == Load::real) {
      z.re = static_cast<Real>(load_as<kReads>(read<Element>(line, first, add)));
    } else if constexpr (Step::kLoad == Load::half) {
      // The other half of a spectrum is in the mirrored row.
      const int j = first + add;
      const bool mirrored = 2 * j > kPoints;
      const Vector v = load_as<kReads>(read<Vector>(line, mirrored ? kPoints - j : j, 0, mirrored));
      z = {v.x, mirrored ? -v.y : v.y};
    } else {
      const Vector v = load_as<kReads>(read<Vector>(line, first, add));
      z = {v.x, v.y};
    }
    // Half spectra of pairs are exchanged after they are tangled.
    if constexpr (Step::kSwapIn && Step::kLoad != Load::half_pairs) return {z.im, z.re};
    return z;
  }

  __device__ __forceinline__ void store(int line, int first, Value z, int add = 0) const {
    if constexpr (Step::kSwapOut) z = {z.im, z.re};
    if constexpr (Step::kScale) z = {z.re * scale_, z.im * scale_};
    using Element = typename Step::Out::Element;
    constexpr bool kApart = is_apart<Element, Line::Radix::kCount - 1>();
    const long long at = place<typename Step::Out>(line, false) + Element::at(kApart ? first : first + add);
    const long long beyond = kApart ? Element::at(add) : 0;
    if constexpr (Step::kStore == Store::pairs) {
      Real* samples = static_cast<Real*>(to_) + at + beyond;
      if constexpr (Step::kVector) {
        store_as<kWrites>(reinterpret_cast<Vector*>(samples), Vector{z.re, z.im});
      } else {
        store_as<kWrites>(samples, z.re);
        store_as<kWrites>(samples + Step::kPairStride, z.im);
      }
    } else if constexpr (Step::kStore == Store::real) {
      store_as<kWrites>(static_cast<Real*>(to_) + at + beyond, z.re);
    } else {
      if (Step::kStore == Store::half && 2 * (first + add) > kPoints) return;
      if constexpr (Step::kKeep != Keep::all) {
        keep<Step::kKeep, Value>(kept_, at + beyond, Step::kSpectrum, z.re, z.im);
      } else {
        store_as<kWrites>(static_cast<Vector*>(to_) + at + beyond, Vector{z.re, z.im});
      }
    }
  }

 private:
  /// first + add of what a pass addresses: `add` is a constant, which costs no arithmetic where no digit
  /// carries.
  template <class Element, int kPass>
  static constexpr bool is_apart() {
    return Element::kFold == 0 || !Pass<Line, kPass>::carries(Element::kFold);
  }

  template <class T>
  __device__ __forceinline__ const T* read(int line, int first, int add, bool mirrored = false) const {
    using Element = typename Step::In::Element;
    constexpr bool kApart = is_apart<Element, 0>();
    return static_cast<const T*>(from_) + place<typename Step::In>(line, mirrored) +
           Element::at(kApart ? first : first + add) + (kApart ? Element::at(add) : 0);
  }

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
