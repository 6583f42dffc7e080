// SPDX-License-Identifier: Apache-2.0
// The part of the fused kernel after its FFT: sums rows over the lanes, and finishes a frame within a cluster
// of blocks.
#pragma once

#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/runtime/cluster.cuh"
#include "kernels/cuda/runtime/copy_async.cuh"
#include "kernels/cuda/runtime/probe.hpp"
#include "kernels/cuda/small_fft/block_fft.cuh"
#include "kernels/cuda/stages/finish.cuh"

namespace sfft::detail::cuda {

/// Complex numbers in 16 bytes, the largest copy that a thread makes.
template <class Real>
constexpr int kPiece = 16 / static_cast<int>(sizeof(Complex<Real>));

/// Copies from global to shared memory, 16 bytes per thread, without waiting.
__device__ __forceinline__ void copy_ahead(int to, const unsigned char* from, int bytes) {
  for (int i = static_cast<int>(threadIdx.x) * 16; i < bytes; i += static_cast<int>(blockDim.x) * 16)
    copy_async<16>(shared_bytes + to + i, from + i);
}

/// The plan's tables as this block reads them: from shared memory if they were copied there, else from global
/// memory. kSpread: all were copied, which is known at compile time.
template <class Real, bool kSpread = false>
struct FusedTables {
  const FftPass* passes;
  const Complex<Real>* later;
  const BucketPair* bucket;
  const unsigned char* lanes;  ///< weights of the block's first lane
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

/// The part of the tail's scale that thread `first` of `step` sums over the lanes of one group; 0 for a flat
/// window, whose rows include probes.
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

/// The sum of row i over the lanes of one group.
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

/// The witness's rows for the block's coefficients, starting at `first`.
template <bool kSpread, class Real>
__device__ __forceinline__ WitnessRows<Real> witness_rows(const FusedArguments<Real>& a, int first) {
  if (kSpread || a.layout.witness_bytes > 0)
    return {shared_at<Complex<Real>>(a.layout.witness),
            a.policy.cluster > 1 ? a.layout.slice : a.plan.witness.pitch};
  return {a.plan.witness.rows + first, a.plan.witness.pitch};
}

/// Starts copying those rows; the block has `columns` coefficients.
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

/// Returns zero + Σ part(c) over c < cluster <= kMax; issues all loads first.
template <int kMax, class T, class Part>
__device__ __forceinline__ T sum_over_blocks(int cluster, T zero, const Part& part) {
  T values[kMax];
#pragma unroll
  for (int c = 0; c < kMax; ++c) values[c] = c < cluster ? part(c) : zero;
  return tree_sum<kMax>(values);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/// Two adjacent rows.
template <class Real>
struct alignas(16) RowPair {
  Complex<Real> row[2];
};

/// Opens the inboxes of block `rank`. One thread calls this before the block announces its start to the
/// cluster.
template <class Real>
__device__ __forceinline__ void open_inboxes(const FusedArguments<Real>& a, int rank) {
  FinishMemory<Real>& memory = *shared_at<FinishMemory<Real>>(a.layout.finish);
  const int cluster = a.policy.cluster;
  const int rows = max(0, min(a.layout.slice, a.plan.rows - rank * a.layout.slice));
  open_inbox(&memory.rows_inbox, cluster * ((rows + 1) / 2) * static_cast<int>(sizeof(RowPair<Real>)));
  const int sums = share_warps(a.policy, a.layout.slice).finishing * static_cast<int>(sizeof(Sums));
  const int predictions =
      a.plan.witness.count > 0 ? a.layout.segments * kWitnessReals * static_cast<int>(sizeof(Real)) : 0;
  open_inbox(&memory.errors_inbox, cluster * (sums + predictions));
}

/// Sends a number that eight lanes share to all blocks: each lane sends to every eighth block.
template <class T>
__device__ __forceinline__ void send_to_all(T* own, int cluster, Inbox* inbox, const T& value) {
  static_assert(kMaxCluster == 16);
  const int to = static_cast<int>(threadIdx.x) % 8;
  if (to < cluster) send(own, to, inbox, value);
  if (to + 8 < cluster) send(own, to + 8, inbox, value);
}

/// The lane's parts of two rows. The block has one lane, and its tables may be loaded before the spectrum
/// exists.
template <bool kReal, class Real>
struct LaneRows {
  RowPair<Real> alpha, beta;
  int4 buckets;

  /// Tables are padded to an even number of rows.
  __device__ __forceinline__ LaneRows(const FusedArguments<Real>& a, const FusedTables<Real, true>& tables,
                                      int i) {
    if (i >= a.plan.rows) return;
    const auto* weights = reinterpret_cast<const Complex<Real>*>(tables.lanes) + i;
    alpha = *reinterpret_cast<const RowPair<Real>*>(weights);
    if (kReal)
      beta = *reinterpret_cast<const RowPair<Real>*>(reinterpret_cast<const unsigned char*>(weights) +
                                                     a.plan.lane_beta);
    buckets = *reinterpret_cast<const int4*>(tables.bucket + i);
  }
  __device__ __forceinline__ RowPair<Real> operator()(const Complex<Real>* spectrum) const {
    RowPair<Real> sum{};
    add_weighted<false>(alpha.row[0], spectrum[padded<Real>(buckets.x)], sum.row[0]);
    add_weighted<false>(alpha.row[1], spectrum[padded<Real>(buckets.z)], sum.row[1]);
    if constexpr (kReal) {
      add_weighted<true>(beta.row[0], spectrum[padded<Real>(buckets.y)], sum.row[0]);
      add_weighted<true>(beta.row[1], spectrum[padded<Real>(buckets.w)], sum.row[1]);
    }
    return sum;
  }
};

/// Sends rows i and i + 1 of block `rank`'s lanes to the block that finishes them.
template <class Real>
__device__ __forceinline__ void send_rows(const FusedArguments<Real>& a, int rank, int i,
                                          const RowPair<Real>& pair) {
  Inbox* const inbox = &shared_at<FinishMemory<Real>>(a.layout.finish)->rows_inbox;
  const int to = static_cast<int>(a.by_slice.divide(i)), slice = a.layout.slice;
  Complex<Real>* const there = shared_at<Complex<Real>>(a.layout.parts) + rank * slice + i - to * slice;
  if constexpr (sizeof(pair) == 16) {
    send(reinterpret_cast<RowPair<Real>*>(there), to, inbox, pair);
  } else {
    send(there, to, inbox, pair.row[0]);
    send(there + 1, to, inbox, pair.row[1]);
  }
}

/// Waits for the block's spectra, then sends its lanes' parts of all rows.
template <bool kReal, bool kSpread, class Real>
__device__ __forceinline__ void send_all_rows(const FusedArguments<Real>& a,
                                              const FusedTables<Real, kSpread>& tables, int rank, int lanes) {
  const int rows = a.plan.rows, step = 2 * static_cast<int>(blockDim.x);
  int i = 2 * static_cast<int>(threadIdx.x);
  if constexpr (kSpread) {
    LaneRows<kReal, Real> pair(a, tables, i);
    __syncthreads();
    while (i < rows) {
      send_rows(a, rank, i, pair(spectra(a)));
      i += step;
      pair = LaneRows<kReal, Real>(a, tables, i);
    }
  } else {
    for (; i < rows; i += step) {
      send_rows(a, rank, i,
                RowPair<Real>{{row_sum<kReal>(a, tables, lanes, i),
                               row_sum<kReal>(a, tables, lanes, min(i + 1, rows - 1))}});
    }
  }
}

/// The blocks of a cluster exchange their rows' sums, and each finishes a slice of the rows. They then
/// exchange their slices' contributions to the error estimate. The first warps of each block compute the
/// estimate redundantly, for the errors of the block's slice; one warp writes it. kSpread: called without a
/// barrier after the last pass.
template <bool kReal, bool kSpread, class Real>
__device__ __forceinline__ void finish_cluster(const FusedArguments<Real>& a, int rank, std::int64_t frame,
                                               int lanes) {
  const FusedTables<Real, kSpread> tables(a, rank * a.policy.lanes_per_group);
  const Binning<Real>& plan = a.plan;
  const int cluster = a.policy.cluster;
  const int slice = a.layout.slice;
  FinishMemory<Real>& memory = *shared_at<FinishMemory<Real>>(a.layout.finish);
  Sums* scratch = shared_at<Sums>(a.layout.sums);
  Complex<Real>* parts = shared_at<Complex<Real>>(a.layout.parts);
  Real* predicted = shared_at<Real>(a.layout.predicted);
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const WarpShares warps = share_warps(a.policy, slice);
  const int first = rank * slice;
  const int last = min(first + slice, plan.k);
  const bool witness = plan.witness.count > 0;
  // These loads are in flight while rows are summed.
  const int own = first + thread;
  const Complex<Real> known = known_value(own < last ? plan.k : 0, a.batch, own);
  send_all_rows<kReal>(a, tables, rank, lanes);
  // While rows are in flight:
  if (warp >= warps.first_of_tail()) {
    const int before = 32 * warps.first_of_tail();
    const Real power = warp_sum(tail_power(a, tables, lanes, thread - before, 32 * warps.all - before));
    if (lane == 0) memory.tail[warp] = power;
  }
  Sums sums;
  Coefficient<Real> one{};
  if (warp < warps.finishing) {
    await_inbox(&memory.rows_inbox);
    const auto over_blocks = [&](const auto& part) {
      return cluster > kPortableCluster
                 ? sum_over_blocks<kMaxCluster>(cluster, Complex<Real>{0, 0}, part)
                 : sum_over_blocks<kPortableCluster>(cluster, Complex<Real>{0, 0}, part);
    };
    for (int i = own; i < last; i += blockDim.x) {
      const Complex<Real> z = over_blocks([&](int c) { return parts[c * slice + i - first]; });
      const Complex<Real> there = i == own ? known : known_value(plan.k, a.batch, i);
      const Coefficient<Real> finished = coefficient(tables.errors, a.batch, i, z, there);
      // No other thread reads what the blocks sent for row i.
      parts[i - first] = finished.difference;
      a.batch.values[frame * plan.k + i] = finished.value;
      // Other warps wait for the differences, so those come first; the sums of a thread's first row can wait.
      if (i == own) {
        one = finished;
      } else {
        add_coefficient(tables.errors, i, finished, sums);
      }
    }
  }
  __syncthreads();
  if (warp < warps.finishing) {
    if (own < last) add_coefficient(tables.errors, own, one, sums);
    if (warp == 0 && lane >= warps.first_of_tail() && lane < warps.all)
      sums.power = static_cast<double>(memory.tail[lane]);
    const double sum = sums.member_over_warp();
    send_to_all(Sums::member(scratch + rank * warps.finishing + warp), cluster, &memory.errors_inbox, sum);
  }
  if (witness && warp >= warps.first_predictor()) {
    predict<kReal, true>(witness_rows<kSpread>(a, first), parts, last - first, a.layout.segments,
                         warp - warps.first_predictor(), warps.predictors(),
                         [&](int segment, int s, Real sum) {
                           send_to_all(predicted + (rank * a.layout.segments + segment) * kWitnessReals + s,
                                       cluster, &memory.errors_inbox, sum);
                         });
  }
  const int settlers = min(kSettlers, warps.all);
  if (warp >= settlers) return;
  Real sample = 0;
  double samples_power = 0;
  if (witness) {
    sample = witness_sample(a.batch, memory);
    samples_power = witness_power<kReal>(sample);
  }
  await_inbox(&memory.errors_inbox);
  WitnessSeen seen{};
  if (witness) {
    Real prediction = 0;
#pragma unroll 8
    for (int g = 0; g < cluster * a.layout.segments; ++g) prediction += predicted[g * kWitnessReals + lane];
    seen = witness_seen<kReal>(plan.witness.trimmed, sample, prediction, samples_power, memory.keys[warp]);
  }
  const Ratios ratios =
      settle_frame(plan, a.batch.reference_error, Sums::over(scratch, cluster * warps.finishing), seen);
  const Scales scales{ratios.gain_scale, ratios.bias_scale};
#pragma unroll 1
  for (int i = own; i < last; i += 32 * settlers)
    write_error(plan.k, tables.errors, a.batch, frame, i, scales);
  if (rank == cluster - 1 && warp == settlers - 1) write_errors(a.batch, frame, ratios);
}
#endif

}  // namespace sfft::detail::cuda
