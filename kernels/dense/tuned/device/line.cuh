// SPDX-License-Identifier: Apache-2.0
// The constants of a kernel's FFTs, and where their points lie in shared memory.
//
// K is the generated kernel. K::step is a constant (plan/step.hpp), K::Real is float or double, and
// K::Element is the type of real samples.
#pragma once

#include "kernels/dense/tuned/plan/shared_layout.hpp"

namespace sfft::device {

using namespace detail::tuned;  // NOLINT: these names are the vocabulary of steps and policies

template <class Real>
struct alignas(2 * sizeof(Real)) Complex {
  Real re, im;
};

/// Element i of a list, for unrolled loops. It reads an array of plain numbers, since the compiler folds
/// members of a constant object only after it has chosen how to divide by them.
template <const IntList& kList>
constexpr int element(int i) {
  constexpr int kAll[IntList::kCapacity] = {kList[0],  kList[1],  kList[2],  kList[3],  kList[4],
                                            kList[5],  kList[6],  kList[7],  kList[8],  kList[9],
                                            kList[10], kList[11], kList[12], kList[13], kList[14]};
  return kAll[i];
}

/// The FFTs of a kernel. kBack selects the inverse half of a convolution, with the same radices in reverse
/// order.
template <class K, bool kBack = false>
struct Line {
  using Real = typename K::Real;
  static constexpr bool kSingle = sizeof(Real) == 4;
  static constexpr int kLength = K::step.policy.length();
  static constexpr int kPasses = static_cast<int>(K::step.policy.radices.size());
  static constexpr int kThreads = K::step.policy.threads_per_transform;
  static constexpr int kTransforms = K::step.policy.transforms_per_block;
  static constexpr int kPad = K::step.policy.pad, kPadInterval = K::step.policy.pad_interval;
  static constexpr int kPitch = transform_pitch(K::step, kSingle);
  static constexpr bool kInterleaved = K::step.policy.interleaved_shared;
  static constexpr bool kHalfShared = K::step.policy.half_shared;
  static constexpr bool kWithinWarp = K::step.within_warp();
  static constexpr bool kLoadInterleaved = K::step.load_interleaved;
  static constexpr bool kStoreInterleaved = K::step.store_interleaved;
  static constexpr Twiddles kTwiddles = K::step.policy.twiddles;
  static constexpr int kRows = K::step.rows;  ///< not 0: the line is a grid of this many rows, and its
                                              ///< columns come first
  /// Whether the DFT has one dimension per radix. Passes then compute it in place, without twiddle factors
  /// (Burrus and Eschenbacher 1981).
  static constexpr bool kTwiddleFree = K::step.twiddle_free();

  static constexpr IntList kRadices = kBack ? K::step.policy.radices.reversed() : K::step.policy.radices;
  static constexpr int radix(int pass) { return element<kRadices>(pass); }
  /// The product of the radices before a pass, which is the distance of its outputs.
  static constexpr int before(int pass) {
    int product = 1;
    for (int i = 0; i < pass; ++i) product *= radix(i);
    return product;
  }
  /// For a DFT without twiddle factors: slots between neighbours in a dimension.
  static constexpr IntList kGridStrides =
      grid_strides(K::step.policy.radices, K::step.conflict_free(), kSingle);
  static constexpr int grid_stride(int dimension) { return element<kGridStrides>(dimension); }
  /// Where the roots of a pass are, if it reads all of them. Those of the inverse half of a convolution
  /// follow those of the forward half.
  static constexpr PassRoots roots(unsigned pass) {
    if (!reads_all_roots(kTwiddles) || kTwiddleFree) return {};
    const PassRoots last = pass_roots(K::step.policy.radices, kTwiddles, kRows, kPasses - 1, kLength);
    return pass_roots(kRadices, kTwiddles, kRows, pass, kBack ? last.first + last.count() : kLength);
  }
};

/// The part of a tile on which a thread works.
struct Seat {
  int thread, line;  ///< index within the transform; index within the tile
};

template <class Line>
__device__ __forceinline__ Seat seat(int id, bool interleaved) {
  return interleaved ? Seat{id / Line::kTransforms, id % Line::kTransforms}
                     : Seat{id % Line::kThreads, id / Line::kThreads};
}

/// The slot of a position in shared memory, including padding.
template <class Line>
__device__ __forceinline__ int slot_of(int position, int line) {
  return Line::kInterleaved ? position * (Line::kTransforms + Line::kPad) + line
                            : line * Line::kPitch + position;
}

/// The slot of position base + add of a line. Padding distributes strided accesses over the banks (the
/// paper's section 3.3). It costs no arithmetic if it depends only on `add`, a constant. `aligned` says that
/// base is a multiple of kPadInterval.
template <class Line>
__device__ __forceinline__ int slot(int base, int add, int line, bool aligned = false) {
  int position = base + add;
  if constexpr (Line::kPadInterval > 0) {
    if (aligned || add % Line::kPadInterval == 0) {
      position += base / Line::kPadInterval + add / Line::kPadInterval;
    } else {
      position += position / Line::kPadInterval;
    }
  }
  return slot_of<Line>(position, line);
}

}  // namespace sfft::device
