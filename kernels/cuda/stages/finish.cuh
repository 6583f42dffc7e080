// SPDX-License-Identifier: Apache-2.0
// The end of a transform computes values, the scales of the errors, standard errors and the error estimate.
#pragma once

#include "kernels/base/tables/error_estimate.hpp"
#include "kernels/cuda/stages/binning.hpp"
#include "kernels/cuda/stages/witness.cuh"

namespace sfft::detail::cuda {

struct Sums {
  double power = 0;  ///< of the tail, in the plan's unit
  double held = 0;   ///< Σ|X̂|² without f = 0, with both halves of a real spectrum
  double norm = 0;   ///< Σ|X̂|² without f = 0
  double fit = 0;    ///< Σ fit_i |X̂_i|² of the difference to the reference

  /// Adds up over the warp; lane l gets member l/8.
  __device__ __forceinline__ double member_over_warp() const { return sum_of_four(power, held, norm, fit); }
  /// This lane's member of *all.
  static __device__ __forceinline__ double* member(Sums* all) {
    return reinterpret_cast<double*>(all) + threadIdx.x % 32 / 8;
  }
  /// Adds up the first `count` of *all, the sums of several blocks; every lane gets the result. Called by a
  /// warp.
  static __device__ __forceinline__ Sums over(const Sums* all, int count) {
    const auto* members = reinterpret_cast<const double*>(all);
    constexpr int kAhead = 4;
    double sum = 0;  // sum of member lane % 4
#pragma unroll 1
    for (int start = 0; start < 4 * count; start += 32 * kAhead) {
      double values[kAhead];
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        const int i = start + 32 * j + static_cast<int>(threadIdx.x) % 32;
        values[j] = i < 4 * count ? members[i] : 0;
      }
      sum += tree_sum<kAhead>(values);
    }
#pragma unroll
    for (int step = 4; step <= 16; step *= 2) sum += exchanged(sum, step);
    return {__shfl_sync(0xffffffffU, sum, 0), __shfl_sync(0xffffffffU, sum, 1),
            __shfl_sync(0xffffffffU, sum, 2), __shfl_sync(0xffffffffU, sum, 3)};
  }
  /// Writes the warp's sums to scratch[warp]; after a barrier from_warps() gives the block's.
  __device__ __forceinline__ void to_warps(Sums* scratch) const {
    const double sum = member_over_warp();
    if (threadIdx.x % 8 == 0) *member(scratch + threadIdx.x / 32) = sum;
  }
  /// Must be called by whole warps.
  __device__ __forceinline__ void from_warps(const Sums* scratch) {
    *this = threadIdx.x % 32 < blockDim.x / 32 ? scratch[threadIdx.x % 32] : Sums{};
    const double sum = member_over_warp();
    *this = {__shfl_sync(0xffffffffU, sum, 0), __shfl_sync(0xffffffffU, sum, 8),
             __shfl_sync(0xffffffffU, sum, 16), __shfl_sync(0xffffffffU, sum, 24)};
  }
  /// Adds up over the block; every thread gets the result. `scratch` has room for 32 Sums in shared memory.
  __device__ __forceinline__ void over_block(Sums* scratch) {
    to_warps(scratch);
    __syncthreads();
    from_warps(scratch);
  }
};
static_assert(sizeof(Sums) == 4 * sizeof(double), "members are addressed as an array");

/// A term's contribution to the tail's scale; `spectrum(l, b)` is bucket b of lane l.
template <class Real, class Spectrum>
__device__ __forceinline__ Real tail_term(const DeviceTailTerm<Real>& term, int lanes,
                                          const Spectrum& spectrum) {
  Real square = 0;
#pragma unroll 4
  for (int l = 0; l < lanes; ++l) {
    const Complex<Real> z = spectrum(l, term.pair.at), m = spectrum(l, term.pair.mirror);
    // Twice Y₀ and Y₁.
    const Complex<Real> even{z.re + m.re, z.im - m.im}, odd{z.im + m.im, m.re - z.re};
    const Real re = even.re + term.root_re * odd.re - term.root_im * odd.im;
    const Real im = even.im + term.root_re * odd.im + term.root_im * odd.re;
    square += re * re + im * im;
  }
  return term.weight / 4 * square;
}

/// The table entries that a row needs to be finished.
template <class Real>
struct ErrorTables {
  const Real* gain;
  const Real* bias;
  const Real* fit;  ///< nullptr: there is no prior whose scale can be fitted
  const std::uint8_t* flags;
};

template <class Real>
__device__ __forceinline__ ErrorTables<Real> error_tables(const Binning<Real>& plan) {
  return {plan.gain, plan.bias, plan.fit, plan.flags};
}

/// The reference's coefficient of row i.
template <class Real>
__device__ __forceinline__ Complex<Real> known_value(int k, const Batch<Real>& batch, int i) {
  return batch.reference_values != nullptr && i < k ? batch.reference_values[i] : Complex<Real>{0, 0};
}

template <class Real>
struct Coefficient {
  Complex<Real> difference;  ///< to the reference
  Complex<Real> value;
  int flags;
};

/// Returns coefficient i, given the sum z of its row over all lanes; `known` is known_value().
template <class Real>
__device__ __forceinline__ Coefficient<Real> coefficient(const ErrorTables<Real>& tables,
                                                         const Batch<Real>& batch, int i, Complex<Real> z,
                                                         const Complex<Real>& known) {
  const int flags = tables.flags[i];
  if ((flags & kRealValue) != 0) z.im *= 0;  // NaN stays NaN
  Coefficient<Real> out{z, z, flags};
  if (batch.reference_values != nullptr) {
    out.value.re += known.re;
    out.value.im += known.im;
  }
  return out;
}

template <class Real>
__device__ __forceinline__ double squared(const Complex<Real>& z) {
  return static_cast<double>(z.re) * z.re + static_cast<double>(z.im) * z.im;
}

/// The contribution of coefficient i to the sums.
template <class Real>
__device__ __forceinline__ void add_coefficient(const ErrorTables<Real>& tables, int i,
                                                const Coefficient<Real>& z, Sums& sums) {
  if (tables.fit != nullptr) sums.fit += static_cast<double>(tables.fit[i]) * squared(z.difference);
  const double square = squared(z.value);
  const double counted = (z.flags & kMean) != 0 ? 0 * square : square;  // 0 · NaN keeps a NaN visible
  sums.norm += counted;
  sums.held += (z.flags & kDistinctConjugate) != 0 ? 2 * counted : counted;
}

/// Finishes row i, whose sum over all lanes is z: passes the coefficient to store(z), or accumulates a probe
/// of the tail. `known` is known_value(). Returns the coefficient of the difference from the reference.
template <class Real, class Store>
__device__ __forceinline__ Complex<Real> finish_row(int k, const ErrorTables<Real>& tables,
                                                    const Batch<Real>& batch, int i, const Complex<Real>& z,
                                                    const Complex<Real>& known, Sums& sums,
                                                    const Store& store) {
  if (i >= k) {
    sums.power += squared(z);
    return z;
  }
  const Coefficient<Real> out = coefficient(tables, batch, i, z, known);
  store(out.value);
  add_coefficient(tables, i, out, sums);
  return out.difference;
}

/// A store for finish_row(): writes coefficient i of a frame.
template <class Real>
__device__ __forceinline__ auto store_at(int k, const Batch<Real>& batch, std::int64_t frame, int i) {
  return [=, values = batch.values](const Complex<Real>& z) { values[frame * k + i] = z; };
}

/// √(numerator/denominator). It is computed in float if Real is float and the value is in range, because
/// double arithmetic takes several times as long.
template <class Real>
__device__ __forceinline__ double root(double numerator, double denominator) {
  if (sizeof(Real) == 4) {
    const float upper = static_cast<float>(numerator), lower = static_cast<float>(denominator);
    const float ratio = upper / lower;
    const float min = fminf(fminf(upper, lower), ratio), max = fmaxf(fmaxf(upper, lower), ratio);
    if (min > 1e-36F && max < 1e36F) return static_cast<double>(sqrtf(ratio));
  }
  return sqrt(numerator / denominator);
}

/// Factors of the error tables for one frame.
struct Scales {
  double gain, bias;
};

/// √(scales.gain·gain + scales.bias·bias), computed like root().
__device__ __forceinline__ float standard_error(const Scales& scales, float gain, float bias) {
  const float square = fmaf(static_cast<float>(scales.gain), gain, static_cast<float>(scales.bias) * bias);
  if (square > 1e-30F && square < 1e36F) return sqrtf(square);
  return static_cast<float>(
      sqrt(scales.gain * static_cast<double>(gain) + scales.bias * static_cast<double>(bias)));
}
__device__ __forceinline__ double standard_error(const Scales& scales, double gain, double bias) {
  return sqrt(scales.gain * gain + scales.bias * bias);
}

template <class Real>
__device__ __forceinline__ void write_error(int k, const ErrorTables<Real>& tables, const Batch<Real>& batch,
                                            std::int64_t frame, int i, const Scales& scales) {
  batch.standard_error[frame * k + i] = standard_error(scales, tables.gain[i], tables.bias[i]);
}

template <class Real>
__device__ __forceinline__ Ratios ratios_of(const Binning<Real>& plan, const ErrorSums& sums) {
  constexpr double kEpsilon = sizeof(Real) == 4 ? 1.1920928955078125e-07 : 2.220446049250313e-16;
  return error_ratios(plan.errors, plan.reciprocals, sums, kEpsilon);
}

/// Writes a frame's error estimate. One warp calls this, and three of its lanes compute one root each.
template <class Real>
__device__ __forceinline__ void write_errors(const Batch<Real>& batch, std::int64_t frame,
                                             const Ratios& ratios) {
  const unsigned lane = threadIdx.x % 32;
  if (lane >= 3) return;
  const double numerator = lane == 2 ? ratios.tail : ratios.error;
  const double denominator = lane == 0 ? 1 : lane == 1 ? ratios.norm : ratios.total;
  const double value = denominator > 0 ? root<Real>(numerator, denominator) : 0;
  DeviceErrors& out = batch.errors[frame];
  if (lane == 0) {
    out.error_l2 = value;
    out.tail_energy = ratios.tail;
    out.finite = ratios.finite ? 1 : 0;
  }
  if (lane == 1) out.relative_error = value;
  if (lane == 2) out.residual = value;
}

/// In a cluster, this many warps of each block settle the frame redundantly: one per scheduler, so that none
/// waits for another.
constexpr int kSettlers = 4;

/// A block's shared memory for the end of a frame.
template <class Real>
struct FinishMemory {
  Scales scales;
  alignas(16) int keys[kSettlers][kWitnessReals];  ///< sort keys of the witness's squares
  Real samples[kWitnessReals];                     ///< the witness's samples
  Real reference[kWitnessReals];                   ///< the reference's witness, if there is a reference
  Real tail[32];                                   ///< cluster: each warp's part of the tail's power
  /// Cluster: inboxes for what the blocks send of this block's rows, and of the error estimate.
  unsigned long long rows_inbox, errors_inbox;
};

/// Called by a warp that has all sums; the result is valid in every lane. `seen` is not read if the plan has
/// no witness.
template <class Real>
__device__ __forceinline__ Ratios settle_frame(const Binning<Real>& plan, double reference_error,
                                               const Sums& values, const WitnessSeen& seen) {
  ErrorSums sums;
  sums.scale = values.power * plan.power_unit;
  sums.norm = values.norm;
  sums.held = values.held;
  sums.fit = values.fit;
  sums.finite = sums.scale - sums.scale == 0;
  sums.reference_error = reference_error;
  if (plan.witness.count > 0) {
    sums.witness = seen.residue;
    sums.witness_all = seen.all;
    sums.witness_samples = seen.samples;
  }
  return ratios_of(plan, sums);
}

/// As above, called by one warp that stores the scales of the errors for the block. Lane s has real number s
/// of the witness's first block and of its prediction. `more`: sums of the witness's other blocks, or
/// nullptr.
template <bool kReal, class Real>
__device__ __forceinline__ Ratios settle_frame(const Binning<Real>& plan, double reference_error,
                                               const Sums& values, Real sample, Real predicted,
                                               const WitnessSums* more, FinishMemory<Real>& memory) {
  WitnessSeen seen{};
  if (plan.witness.count > 0) {
    seen = witness_seen<kReal>(plan.witness.trimmed, sample, predicted, witness_power<kReal>(sample),
                               memory.keys[0]);
  }
  if (more != nullptr) seen.add(*more, kWitnessSamples<kReal>, plan.witness.count, plan.witness.trimmed);
  const Ratios ratios = settle_frame(plan, reference_error, values, seen);
  if (threadIdx.x % 32 == 0) memory.scales = {ratios.gain_scale, ratios.bias_scale};
  return ratios;
}

/// The witness's sample of this lane, minus the reference's.
template <class Real>
__device__ __forceinline__ Real witness_sample(const Batch<Real>& batch, const FinishMemory<Real>& memory) {
  const Real sample = memory.samples[threadIdx.x % 32];
  return batch.reference_witness == nullptr ? sample : sample - memory.reference[threadIdx.x % 32];
}

/// What one block needs to finish a frame.
template <class Real>
struct BlockFinish {
  Sums* sums;  ///< one per warp
  FinishMemory<Real>* memory;
  Complex<Real>* differences;  ///< k, in shared memory; this and the next are unused without a witness
  Real* predicted;             ///< [segment][kWitnessReals]
  int segments;
  WitnessRows<Real> witness;
};

/// Finishes a frame with one block: `part(i)` is the sum of row i over all lanes, `power` this thread's part
/// of the weighted power of a comb.
template <bool kReal, class Real, class Part>
__device__ __forceinline__ void finish_frame(const Binning<Real>& plan, const ErrorTables<Real>& tables,
                                             const Batch<Real>& batch, std::int64_t frame, double power,
                                             const Part& part, const BlockFinish<Real>& block) {
  const bool witness = plan.witness.count > 0;
  Sums sums;
  sums.power = power;
  for (int i = threadIdx.x; i < plan.rows; i += blockDim.x) {
    const Complex<Real> known = known_value(plan.k, batch, i);
    const Complex<Real> z =
        finish_row(plan.k, tables, batch, i, part(i), known, sums, store_at(plan.k, batch, frame, i));
    if (witness && i < plan.k) block.differences[i] = z;
  }
  sums.to_warps(block.sums);
  __syncthreads();
  if (witness) {
    predict<kReal, false>(block.witness, block.differences, plan.k, block.segments,
                          static_cast<int>(threadIdx.x) / 32, static_cast<int>(blockDim.x) / 32,
                          [&](int segment, int s, Real sum) {
                            if (threadIdx.x % 8 == 0) block.predicted[segment * kWitnessReals + s] = sum;
                          });
    __syncthreads();
  }
  Ratios ratios{};
  if (threadIdx.x < 32) {
    sums.from_warps(block.sums);
    Real sample = 0, predicted = 0;
    if (witness) {
      sample = witness_sample(batch, *block.memory);
      for (int g = 0; g < block.segments; ++g)
        predicted += block.predicted[g * kWitnessReals + static_cast<int>(threadIdx.x)];
    }
    ratios =
        settle_frame<kReal>(plan, batch.reference_error, sums, sample, predicted, nullptr, *block.memory);
  }
  __syncthreads();
  const Scales scales = block.memory->scales;
  for (int i = threadIdx.x; i < plan.k; i += blockDim.x) write_error(plan.k, tables, batch, frame, i, scales);
  if (threadIdx.x < 32) write_errors(batch, frame, ratios);
}

}  // namespace sfft::detail::cuda
