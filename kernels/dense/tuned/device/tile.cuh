// SPDX-License-Identifier: Apache-2.0
// One tile of a step: where its lines lie, and how to load and store their elements.
#pragma once

#include "kernels/cuda/spectrum/keep.cuh"
#include "kernels/dense/tuned/device/arguments.cuh"
#include "kernels/dense/tuned/device/line_fft.cuh"
#include "kernels/dense/tuned/device/memory.cuh"

namespace sfft::device {

/// The offset of the i-th element of a dimension (Digits).
template <long long kStride, int kFold, long long kOver, class I>
__device__ constexpr long long digits_offset(I i) {
  if constexpr (kFold == 0) {
    return i * kStride;
  } else {
    const auto n = static_cast<unsigned>(i);
    return n % kFold * kStride + n / kFold * kOver;
  }
}

template <class K>
struct In {
  static constexpr Side kSide = K::step.in;
};
template <class K>
struct Out {
  static constexpr Side kSide = K::step.out;
};

template <class Side, class I>
__device__ constexpr long long element_offset(I i) {
  constexpr Digits kElement = Side::kSide.element;
  return digits_offset<kElement.stride, kElement.fold, kElement.over>(i);
}
/// The offset of a line's first element.
template <class Side>
__device__ __forceinline__ long long line_offset(long long group, long long outer, long long inner) {
  constexpr auto kSide = Side::kSide;
  if constexpr (kSide.ring_groups > 0) group %= kSide.ring_groups;
  return kSide.base + group * kSide.group + outer * kSide.outer +
         digits_offset<kSide.inner.stride, kSide.inner.fold, kSide.inner.over>(inner);
}

/// One tile of a step: its place in memory, and access to its elements.
template <class K>
class Tile {
 public:
  using Line = device::Line<K>;
  using Real = typename Line::Real;
  using Value = Complex<Real>;
  using InPart = typename PartOf<Real, K::step.in.storage>::type;
  using OutPart = typename PartOf<Real, K::step.out.storage>::type;
  using InVector = typename Pair<InPart>::type;
  using OutVector = typename Pair<OutPart>::type;
  using Samples = typename Pair<typename K::Element>::type;
  static constexpr int kPoints = K::step.points;
  static constexpr int kBlock = Line::kThreads * Line::kTransforms;  ///< threads
  static constexpr Access kReads =
      access_of(K::step.policy.loads, K::step.policy.streaming && !K::step.in.between);
  static constexpr Access kWrites =
      access_of(Loads::cached, K::step.policy.streaming && !K::step.out.between);
  /// Whether every tile is known to be full.
  static constexpr bool kWhole =
      Line::kTransforms == 1 || (K::step.inner > 0 && K::step.inner % Line::kTransforms == 0);
  /// Whether lines 2q and 2q + 1 are rows that mirror each other.
  static constexpr bool kPaired = K::step.mirrored_pairs();

  /// `tile` counts through all groups of a launch.
  __device__ __forceinline__ Tile(const Arguments& a, unsigned tile)
      : kept_(a.kept), group_(0), outer_(0), scale_(static_cast<Real>(a.scale)) {
    if constexpr (K::step.tiles() > 0) {  // a launch has fewer than 2^31 tiles
      constexpr auto kTiles = static_cast<unsigned>(K::step.tiles());
      group_ = a.first_group + tile / kTiles;
      tile %= kTiles;
    }
    if constexpr (K::step.outer > 1) {
      constexpr auto kTiles = static_cast<unsigned>(K::step.tiles() / K::step.outer);
      outer_ = tile / kTiles;
      tile %= kTiles;
    }
    inner_ = static_cast<long long>(tile) * Line::kTransforms;
    const long long left = (K::step.inner > 0 ? K::step.inner : a.lines) - inner_;
    lines_ = kWhole || left >= Line::kTransforms ? Line::kTransforms : static_cast<int>(left);
    from_ = K::step.in.buffer == Buffer::input ? a.input
                                               : (K::step.in.buffer == Buffer::output ? a.output : a.scratch);
    to_ = K::step.out.buffer == Buffer::output ? a.output : a.scratch;
  }

  template <class Vector>
  static __device__ __forceinline__ Value value(const Vector& pair) {
    return {number<Real>(pair.x), number<Real>(pair.y)};
  }
  /// received() converts a complex value of the input for the passes; finished() converts a result for the
  /// output.
  static __device__ __forceinline__ Value received(const InVector& stored) {
    const Value z = value(stored);
    if constexpr (K::step.swap_in) return {z.im, z.re};
    return z;
  }
  /// The result as it is stored, before rounding.
  __device__ __forceinline__ Value scaled(Value z) const {
    if constexpr (K::step.swap_out) z = {z.im, z.re};
    return {scaled_part(z.re), scaled_part(z.im)};
  }
  __device__ __forceinline__ Real scaled_part(Real part) const {
    if constexpr (K::step.scale) part *= scale_;
    if constexpr (K::step.out.exponent != 0) part *= static_cast<Real>(power_of_two(K::step.out.exponent));
    return part;
  }
  __device__ __forceinline__ OutVector finished(Value z) const {
    z = scaled(z);
    return {part<OutPart>(z.re), part<OutPart>(z.im)};
  }
  /// The start of a line, for whole lines that follow each other.
  __device__ __forceinline__ const InVector* input_line(int line) const {
    return static_cast<const InVector*>(from_) + line_offset<In<K>>(line, false);
  }
  __device__ __forceinline__ OutVector* output_line(int line) const {
    return static_cast<OutVector*>(to_) + line_offset<Out<K>>(line, false);
  }
  __device__ __forceinline__ bool has(int line) const { return kWhole || line < lines_; }
  /// The line itself or, past the end of a partial tile, the tile's last line. Results of such a duplicate
  /// are not stored.
  __device__ __forceinline__ int readable(int line) const {
    return kWhole || line < lines_ ? line : lines_ - 1;
  }
  __device__ __forceinline__ int lines() const { return lines_; }
  __device__ __forceinline__ long long twiddle_index(int line) const {
    return group_ * K::step.twiddle.group + outer_ * K::step.twiddle.outer +
           (inner_ + line) * K::step.twiddle.inner;
  }

  /// Whether element n − k of a line's mirror is also written as an element of a line. In a plane that is its
  /// own mirror, all rows are lines. In a single plane, half of the rows are lines, and the first and the
  /// middle row are their own mirrors.
  __device__ __forceinline__ bool comes_twice(int line, int k) const {
    if constexpr (!kPaired) return 2 * k == kPoints;
    if constexpr (K::step.mirror_planes > 1) return outer_ == 0 || 2 * outer_ == K::step.mirror_planes;
    const long long row = (inner_ + line) >> 1;
    return row == 0 || 2 * row == K::step.mirror_rows;
  }

  /// The words of the block16 block that begins with element j of a line, and its exponent.
  __device__ __forceinline__ unsigned* block_words(int line, int j) const {
    constexpr int kParts = K::step.out.parts();
    return static_cast<unsigned*>(to_) +
           (line_offset<Out<K>>(line, false) + element_offset<Out<K>>(j)) / kParts;
  }
  __device__ __forceinline__ signed char* block_exponent(int line, int j) const {
    const long long begin = transform_offset<Out<K>>(line);
    auto* const words = static_cast<unsigned*>(to_) + begin;
    return reinterpret_cast<signed char*>(words + K::step.out.words) +
           block_of(block_words(line, j) - words, 0);
  }

  /// Pair j of a line's samples, as it lies in memory.
  __device__ __forceinline__ const Samples* samples(int line, int j) const {
    return reinterpret_cast<const Samples*>(read<typename K::Element>(line, j, 0));
  }

  /// Whole lines that follow each other without gaps.
  static constexpr bool kFlat = K::step.in.form == Form::complex && K::step.in.element == 1 &&
                                K::step.in.inner == kPoints && K::step.outer == 1 &&
                                K::step.mirror_rows == 0 && !Line::kLoadInterleaved;
  /// Prefetches the input to the L2 cache, where later writes by other kernels still update it. The input
  /// consists of complex numbers or pairs that are neighbours, either within a line or, point by point,
  /// across all lines.
  __device__ __forceinline__ void prefetch() const {
    constexpr int kUnit = K::step.in.form == Form::pairs ? sizeof(Samples) : sizeof(InVector),
                  kLineOfCache = 128;
    if constexpr (kFlat) {
      constexpr int kTile = Line::kTransforms * kPoints * kUnit,
                    kRounds = (kTile + kLineOfCache * kBlock - 1) / (kLineOfCache * kBlock);
      const auto* const from = reinterpret_cast<const char*>(input_line(0));
      const int bytes = lines_ * kPoints * kUnit;
#pragma unroll
      for (int r = 0; r < kRounds; ++r) {
        const int at = (static_cast<int>(threadIdx.x) + r * kBlock) * kLineOfCache;
        if (at < bytes) prefetch_l2(from + at);
      }
      return;
    }
    constexpr Digits kElement = K::step.in.element;
    constexpr int kBeside = Line::kLoadInterleaved ? Line::kTransforms : 1;
    constexpr bool kFolded = kElement.fold > 0 && kElement.stride == kBeside;
    constexpr int kPointsOfRun = kFolded ? kElement.fold : Line::kLoadInterleaved ? 1 : kPoints;
    constexpr int kRuns = kPoints / kPointsOfRun;  ///< runs of one line, or of neighbouring lines
    constexpr int kRun = kBeside * kPointsOfRun * kUnit;
    constexpr int kParts = (kRun + kLineOfCache - 1) / kLineOfCache;
    const int runs = Line::kLoadInterleaved ? kRuns : kRuns * lines_;
    for (int i = static_cast<int>(threadIdx.x); i < kParts * runs; i += kBlock) {
      const int run = i / kParts, part = i % kParts * kLineOfCache;
      if (Line::kLoadInterleaved && !kWhole && part >= lines_ * kUnit) continue;
      const int line = Line::kLoadInterleaved ? 0 : run / kRuns;
      const int j = (Line::kLoadInterleaved ? run : run % kRuns) * kPointsOfRun;
      if constexpr (K::step.in.form == Form::pairs) {
        prefetch_l2(reinterpret_cast<const char*>(samples(line, j)) + part);
      } else {
        prefetch_l2(reinterpret_cast<const char*>(read<InVector>(line, j, 0)) + part);
      }
    }
  }

  /// Loads element first + add of a line, and exchanges its parts if the step says so. A constant `add` costs
  /// no arithmetic.
  __device__ __forceinline__ Value load(int line, int first, int add = 0) const {
    using Element = typename K::Element;
    Value z{0, 0};
    if constexpr (K::step.in.storage == dense::Storage::block16) {
      z = block_value(line, first, add);
    } else if constexpr (K::step.in.form == Form::pairs) {
      const auto* pair = read<Element>(line, first, add);
      if constexpr (K::step.vector) {
        z = value(load_as<kReads>(reinterpret_cast<const Samples*>(pair)));
      } else {
        z = {number<Real>(load_as<kReads>(pair)), number<Real>(load_as<kReads>(pair + K::step.pair_stride))};
      }
    } else if constexpr (K::step.in.form == Form::real) {
      z.re = number<Real>(load_as<kReads>(read<Element>(line, first, add)));
    } else if constexpr (K::step.in.form == Form::half) {
      // The other half of a spectrum is in the mirrored row.
      const int j = first + add;
      const bool mirrored = 2 * j > kPoints;
      z = value(load_as<kReads>(read<InVector>(line, mirrored ? kPoints - j : j, 0, mirrored)));
      if (mirrored) z.im = -z.im;
    } else {
      z = value(load_as<kReads>(read<InVector>(line, first, add)));
    }
    // The parts of half spectra of pairs are exchanged after packing.
    if constexpr (K::step.swap_in && K::step.in.form != Form::half_pairs) return {z.im, z.re};
    return z;
  }

  __device__ __forceinline__ void store(int line, int first, Value z, int add = 0) const {
    z = scaled(z);
    const OutVector stored{part<OutPart>(z.re), part<OutPart>(z.im)};
    constexpr bool kApart = is_apart<Out<K>, Line::kPasses - 1>();
    const long long at =
        line_offset<Out<K>>(line, false) + element_offset<Out<K>>(kApart ? first : first + add);
    const long long beyond = kApart ? element_offset<Out<K>>(add) : 0;
    if constexpr (K::step.out.form == Form::pairs) {
      OutPart* samples = static_cast<OutPart*>(to_) + at + beyond;
      if constexpr (K::step.vector) {
        store_as<kWrites>(reinterpret_cast<OutVector*>(samples), stored);
      } else {
        store_as<kWrites>(samples, stored.x);
        store_as<kWrites>(samples + K::step.pair_stride, stored.y);
      }
    } else if constexpr (K::step.out.form == Form::real) {
      store_as<kWrites>(static_cast<OutPart*>(to_) + at + beyond, stored.x);
    } else {
      if (K::step.out.form == Form::half && 2 * (first + add) > kPoints) return;
      if constexpr (K::step.keep != Keep::all) {
        keep<K::step.keep, Value>(kept_, at + beyond, K::step.spectrum, z.re, z.im);
      } else {
        store_as<kWrites>(static_cast<OutVector*>(to_) + at + beyond, stored);
      }
    }
  }

  /// The same for ordinary values of block16, with half the instructions. `seen` records whether all values
  /// were ordinary.
  __device__ __forceinline__ Value load_ordinary(int line, int first, int add, OrdinaryBlocks& seen) const {
    const BlockWord from = block_word(line, first, add);
    Value z;
    seen.load(from.word, from.exponent, z.re, z.im);
    if constexpr (K::step.swap_in) return {z.im, z.re};
    return z;
  }

 private:
  /// The word of element first + add of a line of block16, and its exponent.
  struct BlockWord {
    unsigned word;
    int exponent;
  };
  __device__ __forceinline__ BlockWord block_word(int line, int first, int add) const {
    constexpr bool kApart = is_apart<In<K>, 0>();
    constexpr int kParts = K::step.in.parts();
    const auto* const words = static_cast<const unsigned*>(from_);
    const long long begin = transform_offset<In<K>>(line),
                    at = (line_offset<In<K>>(line, false) +
                          element_offset<In<K>>(kApart ? first : first + add)) /
                         kParts,
                    beyond = kApart ? element_offset<In<K>>(add) / kParts : 0;
    return {
        load_as<kReads>(words + at + beyond),
        reinterpret_cast<const signed char*>(words + begin + K::step.in.words)[block_of(at - begin, beyond)]};
  }
  __device__ __forceinline__ Value block_value(int line, int first, int add) const {
    const BlockWord from = block_word(line, first, add);
    const float power = power_of_block(from.exponent);
    return {number_of_block(from.word, power), number_of_block(from.word >> 16, power)};
  }

  /// The block that contains a word of a transform. A constant `beyond` costs no arithmetic if it is a
  /// multiple of the block size.
  static __device__ __forceinline__ unsigned block_of(long long at, long long beyond) {
    constexpr int kOfBlock = dense::kBlockValues / 2;
    if (beyond % kOfBlock == 0)
      return static_cast<unsigned>(at) / kOfBlock + static_cast<unsigned>(beyond) / kOfBlock;
    return static_cast<unsigned>(at + beyond) / kOfBlock;
  }
  /// The words before the transform that contains a line.
  template <class Side>
  __device__ __forceinline__ long long transform_offset(int line) const {
    constexpr auto kSide = Side::kSide;
    if constexpr (kSide.transforms == Transforms::groups)
      return (kSide.base + group_ * kSide.group) / kSide.parts();
    if constexpr (kSide.transforms == Transforms::lines) return line_offset<Side>(line, false);
    return kSide.base / kSide.parts();
  }

  /// Whether the offsets of `first` and `add` simply add up in a pass's addresses because no digit carries. A
  /// constant `add` then costs no arithmetic.
  template <class Side, int kPass>
  static constexpr bool is_apart() {
    constexpr int kFold = Side::kSide.element.fold;
    return kFold == 0 || !Pass<Line, kPass>::carries(kFold);
  }

  template <class T>
  __device__ __forceinline__ const T* read(int line, int first, int add, bool mirrored = false) const {
    constexpr bool kApart = is_apart<In<K>, 0>();
    return static_cast<const T*>(from_) + line_offset<In<K>>(line, mirrored) +
           element_offset<In<K>>(kApart ? first : first + add) + (kApart ? element_offset<In<K>>(add) : 0);
  }

  /// The offset of the first element of a line, or of its mirror.
  template <class Side>
  __device__ __forceinline__ long long line_offset(int line, bool mirrored) const {
    long long outer = outer_, row = inner_ + line;
    if constexpr (K::step.mirror_rows > 0) {
      if constexpr (kPaired) {
        mirrored = (row & 1) != 0;
        row >>= 1;
      }
      if (mirrored) {
        row = row == 0 ? 0 : K::step.mirror_rows - row;
        outer = outer == 0 ? 0 : K::step.mirror_planes - outer;
      }
    }
    return device::line_offset<Side>(group_, outer, row);
  }

  const KeptPart& kept_;
  const void* from_;
  void* to_;
  long long group_, outer_, inner_;
  int lines_;
  Real scale_;
};

}  // namespace sfft::device
