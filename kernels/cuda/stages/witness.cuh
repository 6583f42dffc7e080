// SPDX-License-Identifier: Apache-2.0
// The witness of a plan on the GPU: compares scattered samples with what the coefficients predict there.
#pragma once

#include "kernels/base/tables/witness_reals.hpp"
#include "kernels/cuda/runtime/warp_sums.cuh"
#include "kernels/cuda/stages/binning.hpp"
#include "kernels/cuda/stages/gather.cuh"

namespace sfft::detail::cuda {

/// The real type of a sample's parts.
template <class T>
struct PartOf {
  using type = T;
};
template <class Real>
struct PartOf<Complex<Real>> {
  using type = Real;
};

/// Lets the first warp read the witness (thread i reads real number i) in steps that leave room for other
/// work.
template <class Real, class T>
struct WitnessReader {
  using Part = typename PartOf<T>::type;
  std::int64_t at = 0;
  Part sample{};

  static __device__ __forceinline__ bool reads(const Binning<Real>& plan) {
    return plan.witness.count > 0 && threadIdx.x < kWitnessReals;
  }
  /// Looks up the number's address in the plan.
  __device__ __forceinline__ explicit WitnessReader(const Binning<Real>& plan) {
    if (!reads(plan)) return;
    constexpr unsigned kSamples = IsComplex<T>::value ? kWitnessReals / 2 : kWitnessReals;
    at = __ldg(plan.witness.samples + threadIdx.x % kSamples);
    if (IsComplex<T>::value) at = 2 * at + threadIdx.x / kSamples;
  }
  __device__ __forceinline__ void load(const Binning<Real>& plan, const T* frame) {
    if (reads(plan)) sample = reinterpret_cast<const Part*>(frame)[at];  // without __ldg(): see read_pair()
  }
  __device__ __forceinline__ void store(const Binning<Real>& plan, Real* samples) const {
    if (reads(plan)) samples[threadIdx.x] = static_cast<Real>(sample);
  }
};

/// The rows of predictions as a block reads them, `pitch` coefficients apart; the first column belongs to the
/// block's first coefficient.
template <class Real>
struct WitnessRows {
  const Complex<Real>* rows = nullptr;
  int pitch = 0;
};

/// The real number of a chunk whose sum sum_of_four() returns in this lane.
template <bool kReal>
__device__ __forceinline__ int witness_number(int chunk) {
  const int i = static_cast<int>(threadIdx.x % 32) / 8;
  return kReal ? 4 * chunk + i : 2 * chunk + i % 2 + kWitnessReals / 2 * (i / 2);
}

/// Computes one chunk of the prediction over the columns first, first + step, …; each lane receives the
/// prediction of witness_number(chunk), summed over the warp. kEven: all lanes process the same number of
/// columns, four at a time. If there are few columns per lane, a warp would otherwise repeat the loop for the
/// lanes with one column less.
template <bool kReal, bool kEven, class Real>
__device__ __forceinline__ Real predict_chunk(const WitnessRows<Real>& witness, const Complex<Real>* values,
                                              int columns, int chunk, int first, int step) {
  constexpr int kRows = kReal ? 4 : 2;
  const Complex<Real>* rows = witness.rows + chunk * kRows * witness.pitch;
  Real sums[4] = {0, 0, 0, 0};
  const auto add = [&](int i, const Complex<Real>& v) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const Complex<Real> w = rows[r * witness.pitch + i];
      sums[r] += w.re * v.re + w.im * v.im;
      if (!kReal) sums[2 + r % 2] += w.re * v.im - w.im * v.re;
    }
  };
  if constexpr (kEven) {
    for (int base = 0; base < columns; base += 4 * step) {
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        const int i = base + first + q * step, there = min(i, columns - 1);
        add(there, i < columns ? values[there] : Complex<Real>{0, 0});
      }
    }
  } else {
#pragma unroll 2
    for (int i = first; i < columns; i += step) add(i, values[i]);
  }
  return sum_of_four(sums[0], sums[1], sums[2], sums[3]);
}

/// Predicts from the block's coefficients with `warps` warps, of which this one is number `first`. Calls
/// use(segment, s, sum) with a part of real number s, which is the same in eight lanes. Number s is the sum
/// over `segments`.
template <bool kReal, bool kEven, class Real, class Use>
__device__ __forceinline__ void predict(const WitnessRows<Real>& witness, const Complex<Real>* values,
                                        int columns, int segments, int first, int warps, const Use& use) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  for (int task = first; task < kWitnessChunks * segments; task += warps) {
    const int chunk = task % kWitnessChunks, segment = task / kWitnessChunks;
    use(segment, witness_number<kReal>(chunk),
        predict_chunk<kReal, kEven>(witness, values, columns, chunk, 32 * segment + lane, 32 * segments));
  }
}

struct WitnessSeen {
  double residue;  ///< mean |x − x̂|², both parts of a complex sample together; trimmed if the plan says so
  double all;      ///< the same over all samples
  double samples;  ///< mean |x|²

  /// Extends means over the first `counted` samples to means over `count` samples.
  __device__ __forceinline__ void add(const WitnessSums& more, int counted, int count, bool trimmed) {
    all = (all * counted + more.residue) / count;
    samples = (samples * counted + more.samples) / count;
    if (!trimmed) residue = all;
  }
};

/// The number of samples of a witness; a complex sample counts as two real numbers.
template <bool kReal>
constexpr int kWitnessSamples = kReal ? kWitnessReals : kWitnessReals / 2;

/// Returns mean |x|². Called by a warp; lane s has real number s of the samples.
template <bool kReal, class Real>
__device__ __forceinline__ double witness_power(Real sample) {
  return warp_sum(static_cast<double>(sample) * static_cast<double>(sample)) / kWitnessSamples<kReal>;
}

/// Returns the means over a witness's first block, whose witness_power() is `samples`. Called by a warp; lane
/// s has real number s of the samples and of the prediction. `keys` has kWitnessReals elements and is 16-byte
/// aligned.
template <bool kReal, class Real>
__device__ __forceinline__ WitnessSeen witness_seen(bool trimmed, Real sample, Real predicted, double samples,
                                                    int* keys) {
  constexpr int kCount = kWitnessSamples<kReal>;
  constexpr int kKept = kCount - kCount / 4;
  constexpr double kTrimmedScale = 1 / (kKept * (kReal ? kTrimmedReal : kTrimmedComplex));
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const double residue = static_cast<double>(sample - predicted);
  double square = residue * residue;
  if (!kReal) square += exchanged(square, kWitnessReals / 2);
  if (lane >= kCount) square = 0;
  WitnessSeen seen{0, warp_sum(square) / kCount, samples};
  seen.residue = seen.all;
  if (trimmed) {
    // Non-negative numbers are ordered like their bits. 15 bits of the mantissa suffice, because squares that
    // agree in them contribute nearly the same. The lane in the last bits makes all keys distinct.
    const int key = (__double2hiint(square) & ~31) | lane;
    keys[lane] = key;
    __syncwarp();
    int below[4] = {0, 0, 0, 0};
#pragma unroll
    for (int i = 0; i < kCount / 4; ++i) {
      const int4 four = reinterpret_cast<const int4*>(keys)[i];
      below[0] += four.x < key ? 1 : 0;
      below[1] += four.y < key ? 1 : 0;
      below[2] += four.z < key ? 1 : 0;
      below[3] += four.w < key ? 1 : 0;
    }
    // Non-finite values break the ordering and must stay visible in the result.
    const bool ordered = __all_sync(0xffffffffU, square - square == 0);
    const bool kept = below[0] + below[1] + (below[2] + below[3]) < kKept || !ordered;
    seen.residue = kTrimmedScale * warp_sum(kept ? square : 0.0);
  }
  return seen;
}

}  // namespace sfft::detail::cuda
