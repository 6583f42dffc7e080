// SPDX-License-Identifier: Apache-2.0
// The fused kernel after its FFT: sums rows over the lanes, and finishes a frame in a cluster of blocks.
#pragma once

#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/runtime/cluster.cuh"
#include "kernels/cuda/runtime/copy_async.cuh"
#include "kernels/cuda/runtime/probe.hpp"
#include "kernels/cuda/small_fft/block_fft.cuh"
#include "kernels/cuda/stages/finish.cuh"

namespace sfft::detail::cuda {

/// Complex numbers in 16 bytes, the most that a thread copies at once.
template <class Real>
constexpr int kPiece = 16 / static_cast<int>(sizeof(Complex<Real>));

/// Copies global to shared memory, 16 bytes per thread, without waiting.
__device__ __forceinline__ void copy_ahead(int to, const unsigned char* from, int bytes) {
  for (int i = static_cast<int>(threadIdx.x) * 16; i < bytes; i += static_cast<int>(blockDim.x) * 16)
    copy_async<16>(shared_bytes + to + i, from + i);
}

/// The plan's tables where this block reads them: in shared memory as far as they were copied. kSpread: all
/// were, which the compiler then knows.
template <class Real, bool kSpread = false>
struct FusedTables {
  const FftPass* passes;
  const Complex<Real>* later;
  const BucketPair* bucket;
  const unsigned char* lanes;  ///< of the block's first lane
  const Real* power_weight;    ///< nullptr: none
  const DeviceTailTerm<Real>* tail;
  ErrorTables<Real> errors;

  __device__ __forceinline__ FusedTables(const FusedArguments<Real>& a, int first_lane) {
    const Binning<Real>& plan = a.plan;
    const unsigned char* head = shared_bytes + a.layout.head;
    passes = reinterpret_cast<const FftPass*>(head + plan.passes_at);
    later = reinterpret_cast<const Complex<Real>*>(head + plan.table_at);
    const bool copied = kSpread || a.layout.lanes_bytes > 0;
    const unsigned char* rows = copied ? head : plan.blob;
    bucket = reinterpret_cast<const BucketPair*>(rows + plan.bucket_at);
    power_weight =
        plan.power_weight == nullptr ? nullptr : reinterpret_cast<const Real*>(rows + plan.power_at);
    tail = reinterpret_cast<const DeviceTailTerm<Real>*>(rows + plan.tail_at);
    errors = {reinterpret_cast<const Real*>(rows + plan.gain_at),
              reinterpret_cast<const Real*>(rows + plan.bias_at),
              plan.fit == nullptr ? nullptr : reinterpret_cast<const Real*>(rows + plan.fit_at),
              rows + plan.flags_at};
    lanes = copied ? shared_bytes + a.layout.lanes
                   : plan.alpha + static_cast<std::int64_t>(first_lane) * plan.lane_bytes;
  }
};

/// The lanes after the FFT.
template <class Real>
__device__ __forceinline__ const Complex<Real>* spectra(const FusedArguments<Real>& a) {
  return shared_at<Complex<Real>>(a.plan.fft.passes % 2 == 1 ? a.layout.buffer0 : a.layout.buffer1);
}

/// A thread's part of the tail's scale over the lanes of one group, thread `first` of `step`; 0 for a flat
/// window, whose rows hold probes.
template <class Real, bool kSpread>
__device__ __forceinline__ Real tail_power(const FusedArguments<Real>& a,
                                           const FusedTables<Real, kSpread>& tables, int lanes, int first,
                                           int step) {
  const Complex<Real>* z = spectra(a);
  Real power = 0;
  for (int t = first; t < a.plan.tail_terms; t += step)
    power += tail_term(tables.tail[t], lanes,
                       [&](int l, int b) { return z[l * a.layout.pitch + padded<Real>(b)]; });
  if (tables.power_weight == nullptr) return power;
  for (int b = first; b < a.plan.fft.points; b += step) {
    Real square = 0;
#pragma unroll 4
    for (int l = 0; l < lanes; ++l) {
      const Complex<Real> y = z[l * a.layout.pitch + padded<Real>(b)];
      square += y.re * y.re + y.im * y.im;
    }
    power += tables.power_weight[b] * square;
  }
  return power;
}

/// sum += w·z, or w·conj(z).
template <bool kConjugate, class Real>
__device__ __forceinline__ void add_weighted(const Complex<Real>& w, const Complex<Real>& z,
                                             Complex<Real>& sum) {
  const Real im = kConjugate ? -z.im : z.im;
  sum.re += w.re * z.re - w.im * im;
  sum.im += w.re * im + w.im * z.re;
}

/// Row i over the lanes of one group.
template <bool kReal, class Real, bool kSpread>
__device__ __forceinline__ Complex<Real> row_sum(const FusedArguments<Real>& a,
                                                 const FusedTables<Real, kSpread>& tables, int lanes, int i) {
  const Binning<Real>& plan = a.plan;
  const Complex<Real>* z = spectra(a);
  Complex<Real> sum{0, 0};
  for (int q = 0; q < plan.row_buckets; ++q) {
    const BucketPair pair = tables.bucket[q * plan.rows + i];
    const int at = padded<Real>(pair.at), mirror = padded<Real>(pair.mirror);
    const unsigned char* weights =
        tables.lanes + (q * plan.rows + i) * static_cast<int>(sizeof(Complex<Real>));
#pragma unroll 4
    for (int l = 0; l < lanes; ++l, weights += plan.lane_bytes) {
      add_weighted<false>(*reinterpret_cast<const Complex<Real>*>(weights), z[l * a.layout.pitch + at], sum);
      if constexpr (kReal)
        add_weighted<true>(*reinterpret_cast<const Complex<Real>*>(weights + plan.lane_beta),
                           z[l * a.layout.pitch + mirror], sum);
    }
  }
  return sum;
}

/// The witness's rows for the block's own coefficients, which begin at `first`.
template <bool kSpread, class Real>
__device__ __forceinline__ WitnessRows<Real> witness_rows(const FusedArguments<Real>& a, int first) {
  if (kSpread || a.layout.witness_bytes > 0)
    return {shared_at<Complex<Real>>(a.layout.witness),
            a.policy.cluster > 1 ? a.layout.slice : a.plan.witness.pitch};
  return {a.plan.witness.rows + first, a.plan.witness.pitch};
}

/// Starts to copy those rows; the block has `columns` coefficients.
template <class Real>
__device__ __forceinline__ void copy_witness(const FusedArguments<Real>& a, int first, int columns) {
  const Binning<Real>& plan = a.plan;
  if (a.layout.witness_bytes == 0) return;
  if (a.policy.cluster == 1) {
    copy_ahead(a.layout.witness, reinterpret_cast<const unsigned char*>(plan.witness.rows),
               a.layout.witness_bytes);
    return;
  }
  const int pieces = a.layout.slice / kPiece<Real>;
  for (int t = threadIdx.x; t < plan.witness.count * pieces; t += blockDim.x) {
    const int s = static_cast<int>(a.by_pieces.divide(t)), i = (t - s * pieces) * kPiece<Real>;
    if (i < columns)
      copy_async<16>(shared_at<Complex<Real>>(a.layout.witness) + t * kPiece<Real>,
                     plan.witness.rows + s * plan.witness.pitch + first + i);
  }
}

template <class Real>
__device__ __forceinline__ Complex<Real> operator+(const Complex<Real>& a, const Complex<Real>& b) {
  return {a.re + b.re, a.im + b.im};
}

/// zero + Σ part(c) over c < cluster <= kMost, all loads first.
template <int kMost, class T, class Part>
__device__ __forceinline__ T sum_over_blocks(int cluster, T zero, const Part& part) {
  T values[kMost];
#pragma unroll
  for (int c = 0; c < kMost; ++c) values[c] = c < cluster ? part(c) : zero;
  return tree_sum<kMost>(values);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/// The blocks of a cluster exchange their rows' sums, and each finishes a slice of the rows. They then
/// exchange what their slices add to the account. Each block makes the account for its own slice's errors;
/// the last warp settles it while the one before looks at the witness, and the first block writes it.
template <bool kReal, bool kSpread, class Real>
__device__ __forceinline__ void finish_cluster(const FusedArguments<Real>& a, int rank, std::int64_t frame,
                                               int lanes) {
  const FusedTables<Real, kSpread> tables(a, rank * a.policy.lanes_per_group);
  const Binning<Real>& plan = a.plan;
  const int cluster = a.policy.cluster;
  const int slice = a.layout.slice;
  Sums* scratch = shared_at<Sums>(a.layout.sums);
  Complex<Real>* parts = shared_at<Complex<Real>>(a.layout.parts);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  const int first = rank * slice;
  const int last = min(first + slice, plan.k);
  // Under way while rows are summed.
  const int own = first + static_cast<int>(threadIdx.x);
  const Complex<Real> known = known_value(own < last ? plan.k : 0, a.batch, own);
  // Every block has started: its memory may be written.
  await_blocks();
  const auto send_rows = [&](const auto& sum) {
    constexpr int kAhead = 2;  // rows before the first store: a load after it would wait
    for (int start = threadIdx.x; start < plan.rows; start += kAhead * static_cast<int>(blockDim.x)) {
      Complex<Real> z[kAhead];
#pragma unroll
      for (int j = 0; j < kAhead; ++j)
        z[j] = sum(min(start + j * static_cast<int>(blockDim.x), plan.rows - 1));
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        const int i = start + j * static_cast<int>(blockDim.x);
        const int to = static_cast<int>(a.by_slice.divide(i));
        if (i < plan.rows) in_block(parts, to)[rank * slice + i - to * slice] = z[j];
      }
    }
  };
  if constexpr (kSpread) {
    const Complex<Real>* spectrum = spectra(a);
    const auto* alpha = reinterpret_cast<const Complex<Real>*>(tables.lanes);
    const auto* beta = reinterpret_cast<const Complex<Real>*>(tables.lanes + plan.lane_beta);
    send_rows([&](int i) {
      const BucketPair pair = tables.bucket[i];
      Complex<Real> z{0, 0};
      add_weighted<false>(alpha[i], spectrum[padded<Real>(pair.at)], z);
      if constexpr (kReal) add_weighted<true>(beta[i], spectrum[padded<Real>(pair.mirror)], z);
      return z;
    });
  } else {
    send_rows([&](int i) { return row_sum<kReal>(a, tables, lanes, i); });
  }
  release_written();
  await_written();
  const bool large = cluster > kPortableCluster;
  const auto over_blocks = [&](auto sum, const auto& part) {
    return large ? sum_over_blocks<kMaxCluster>(cluster, sum, part)
                 : sum_over_blocks<kPortableCluster>(cluster, sum, part);
  };
  // The first coefficient of a thread is written at the end: the cluster's barrier would wait for it.
  Complex<Real> own_value{0, 0};
  Sums sums;
  for (int i = own; i < last; i += blockDim.x) {
    const Complex<Real> z =
        over_blocks(Complex<Real>{0, 0}, [&](int c) { return parts[c * slice + i - first]; });
    // No other thread reads what the blocks have sent for row i.
    parts[i - first] =
        finish_row(plan.k, tables.errors, a.batch, i, z, i == own ? known : known_value(plan.k, a.batch, i),
                   sums, [&](const Complex<Real>& value) {
                     if (i == own) {
                       own_value = value;
                     } else {
                       store_at(plan.k, a.batch, frame, i)(value);
                     }
                   });
  }
  // Warps without rows look at the tail meanwhile.
  constexpr int kTailWarps = 4;
  const int busy = min(warps, (slice + 31) / 32);  // warps that have finished rows
  const int tail_first = busy < warps ? busy : 0;
  const int tail_warps = busy < warps ? min(warps - busy, kTailWarps) : warps;
  if (warp >= tail_first && warp < tail_first + tail_warps)
    sums.power = static_cast<double>(
        tail_power(a, tables, lanes, static_cast<int>(threadIdx.x) - 32 * tail_first, 32 * tail_warps));
  const int senders = max(busy, tail_first + tail_warps);
  if (warp < senders) {
    const double sum = sums.member_over_warp();
    for (int c = lane % 8; c < cluster; c += 8)
      Sums::set_member(in_block(scratch, c) + rank * senders + warp, sum);
  }
  Real* predicted = shared_at<Real>(a.layout.predicted);
  const bool witness = plan.witness.count > 0;
  if (witness) {
    __syncthreads();
    predict<kReal>(witness_rows<kSpread>(a, first), parts, last - first, a.layout.segments,
                   [&](int segment, int s, Real sum) {
                     for (int c = lane % 8; c < cluster; c += 8)
                       in_block(predicted, c)[(rank * a.layout.segments + segment) * kWitnessReals + s] = sum;
                   });
  }
  // From here on no block writes to another's memory, so that each may end when it is done.
  release_written();
  FinishMemory<Real>& memory = *shared_at<FinishMemory<Real>>(a.layout.finish);
  const bool settles = warp == warps - 1, looks = witness && warp == warps - 2;
  Real sample = 0;
  double samples_power = 0;
  if (looks) {
    sample = witness_sample(a.batch, memory);
    samples_power = witness_power<kReal>(sample);
  }
  await_written();
  if (looks) {
    Real prediction = 0;
#pragma unroll 8
    for (int g = 0; g < cluster * a.layout.segments; ++g) prediction += predicted[g * kWitnessReals + lane];
    const double residue = witness_residue<kReal>(plan.witness.trimmed, sample, prediction, memory.keys);
    if (lane == 0) memory.seen = {residue, samples_power};
  }
  Sums all;
  if (settles) {  // in every block, with the same result
#pragma unroll 4
    for (int w = lane; w < cluster * senders; w += 32) {
      all.power += scratch[w].power;
      all.held += scratch[w].held;
      all.norm += scratch[w].norm;
      all.fit += scratch[w].fit;
    }
    all.over_warp();
  }
  if (own < last) store_at(plan.k, a.batch, frame, own)(own_value);
  __syncthreads();
  const Ratios ratios = settles ? settle_frame(plan, all, memory.seen, memory) : Ratios{};
  __syncthreads();
  const Scales scales = memory.scales;
  if (settles && rank == 0) write_account(a.batch, frame, ratios);
  for (int i = own; i < last; i += blockDim.x) write_error(plan.k, tables.errors, a.batch, frame, i, scales);
}
#endif

}  // namespace sfft::detail::cuda
