// The fused kernel and its launch; instantiated for one precision a file.
#pragma once

#include <cooperative_groups.h>

#include "kernels/cuda/fused_gather.cuh"

namespace sfft::detail::cuda {

/// The plan's tables where this block reads them: in shared memory as far as they were copied.
template <class Real>
struct FusedTables {
  const FftPass* passes;
  const Complex<Real>* later;
  const BucketPair* bucket;
  const unsigned char* lanes;  ///< of the block's first lane
  const Real* power_weight;    ///< nullptr: none
  ErrorTables<Real> errors;

  __device__ __forceinline__ FusedTables(const FusedArguments<Real>& a, int first_lane) {
    const Binning<Real>& plan = a.plan;
    const unsigned char* head = shared_bytes + a.layout.head;
    passes = reinterpret_cast<const FftPass*>(head + plan.passes_at);
    later = reinterpret_cast<const Complex<Real>*>(head + plan.table_at);
    const unsigned char* rows = a.layout.lanes_bytes > 0 ? head : plan.blob;
    bucket = reinterpret_cast<const BucketPair*>(rows + plan.bucket_at);
    power_weight =
        plan.power_weight == nullptr ? nullptr : reinterpret_cast<const Real*>(rows + plan.power_at);
    errors = {reinterpret_cast<const Real*>(rows + plan.gain_at),
              reinterpret_cast<const Real*>(rows + plan.bias_at), rows + plan.flags_at};
    lanes = a.layout.lanes_bytes > 0 ? shared_bytes + a.layout.lanes
                                     : plan.alpha + static_cast<std::int64_t>(first_lane) * plan.lane_bytes;
  }
};

/// The lanes after the FFT.
template <class Real>
__device__ __forceinline__ const Complex<Real>* spectra(const FusedArguments<Real>& a) {
  return shared_at<Complex<Real>>(a.plan.fft.passes % 2 == 1 ? a.layout.buffer0 : a.layout.buffer1);
}

/// This thread's part of Σ weight_b |Z_b|² over the lanes of one group; 0 for a flat window, whose rows hold
/// probes.
template <class Real>
__device__ __forceinline__ Real tail_power(const FusedArguments<Real>& a, const FusedTables<Real>& tables,
                                           int lanes) {
  const Complex<Real>* z = spectra(a);
  Real power = 0;
  if (tables.power_weight == nullptr) return power;
  for (int b = threadIdx.x; b < a.plan.fft.points; b += blockDim.x) {
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

/// Row i over the lanes of one group.
template <bool kReal, class Real>
__device__ __forceinline__ Complex<Real> row_sum(const FusedArguments<Real>& a,
                                                 const FusedTables<Real>& tables, int lanes, int i) {
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
      const Complex<Real> w = *reinterpret_cast<const Complex<Real>*>(weights);
      const Complex<Real> y = z[l * a.layout.pitch + at];
      sum.re += w.re * y.re - w.im * y.im;
      sum.im += w.re * y.im + w.im * y.re;
      if constexpr (kReal) {
        const Complex<Real> v = *reinterpret_cast<const Complex<Real>*>(weights + plan.lane_beta);
        const Complex<Real> c = z[l * a.layout.pitch + mirror];
        sum.re += v.re * c.re + v.im * c.im;
        sum.im += v.im * c.re - v.re * c.im;
      }
    }
  }
  return sum;
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
/// The blocks of a cluster exchange their rows' sums, each finishes a slice of the rows, the first the
/// account.
template <bool kReal, class Real>
__device__ __forceinline__ void finish_cluster(const FusedArguments<Real>& a, const FusedTables<Real>& tables,
                                               int rank, std::int64_t frame, int lanes, Real power) {
  const Binning<Real>& plan = a.plan;
  const int cluster = a.policy.cluster;
  const int slice = a.layout.slice;
  const auto whole = cooperative_groups::this_cluster();
  Sums* scratch = shared_at<Sums>(a.layout.sums);
  double* powers = shared_at<double>(a.layout.powers);
  Complex<Real>* parts = shared_at<Complex<Real>>(a.layout.parts);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int warps = static_cast<int>(blockDim.x) / 32;
  power = warp_sum(power);
  if (lane == 0) scratch[warp].power = static_cast<double>(power);
  __syncthreads();
  // Every block has started: its memory may be written.
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  if (warp == warps - 1) {  // which has the fewest rows
    const double own = warp_sum(lane < warps ? scratch[lane].power : 0.0);
    if (lane < cluster) whole.map_shared_rank(powers, lane)[rank] = own;
  }
  constexpr int kAhead = 4;  // rows before the first store, as a load after it would wait
  for (int start = threadIdx.x; start < plan.rows; start += kAhead * static_cast<int>(blockDim.x)) {
    Complex<Real> z[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      const int i = start + j * static_cast<int>(blockDim.x);
      if (i < plan.rows) z[j] = row_sum<kReal>(a, tables, lanes, i);
    }
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      const int i = start + j * static_cast<int>(blockDim.x);
      const int to = static_cast<int>(a.by_slice.divide(i));
      if (i < plan.rows) whole.map_shared_rank(parts, to)[rank * slice + i - to * slice] = z[j];
    }
  }
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  const bool large = cluster > kPortableCluster;
  const auto over_blocks = [&](auto sum, const auto& part) {
    return large ? sum_over_blocks<kMaxCluster>(cluster, sum, part)
                 : sum_over_blocks<kPortableCluster>(cluster, sum, part);
  };
  const double scale = plan.power_unit * over_blocks(0.0, [&](int c) { return powers[c]; });
  const int first = rank * slice;
  const int last = min(first + slice, plan.k);
  Sums sums;
  for (int i = first + threadIdx.x; i < last; i += blockDim.x) {
    const Complex<Real> z =
        over_blocks(Complex<Real>{0, 0}, [&](int c) { return parts[c * slice + i - first]; });
    finish_row(plan.k, tables.errors, a.batch, frame, i, z, sums);
    write_error(plan.k, tables.errors, a.batch, frame, i, scale);
  }
  const int busy = min(warps, (slice + 31) / 32);  // warps that have finished rows
  if (warp < busy) sums.over_warp_to(whole.map_shared_rank(scratch, 0) + rank * busy + warp);
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  if (rank != 0 || warp != 0) return;
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  Sums all;
  for (int w = lane; w < cluster * busy; w += 32) {
    all.norm += scratch[w].norm;
    all.held += scratch[w].held;
  }
  all.norm = warp_sum(all.norm);
  all.held = warp_sum(all.held);
  write_account(plan, a.batch, frame, scale, all);
}
#endif

template <class Real, class T, template <class, class> class Source>
__global__ void __launch_bounds__(kMaxFusedThreads<Real>)
    fused_kernel(const __grid_constant__ FusedArguments<Real> a) {
  constexpr bool kReal = !IsComplex<T>::value;
  allow_next_kernel();
  touch_parameters(a);
  const Binning<Real>& plan = a.plan;
  const int cluster = a.policy.cluster;
  const int rank = cluster == 1 ? 0 : static_cast<int>(blockIdx.x) % cluster;
  const std::int64_t frame = cluster == 1 ? blockIdx.x : blockIdx.x / cluster;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if (cluster > 1) asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
  const int own_lane = rank * a.policy.lanes_per_group;
  copy_ahead(a.layout.head, plan.blob, a.layout.head_bytes);
  if (a.layout.lanes_bytes > 0) {
    const int bytes = min(a.policy.lanes_per_group, plan.lanes - own_lane) * plan.lane_bytes;
    copy_ahead(a.layout.lanes, plan.blob + plan.lanes_at + own_lane * plan.lane_bytes, bytes);
  }
  __pipeline_commit();

  const Source<Real, T> source{plan, static_cast<const T*>(a.batch.frames) + frame * a.batch.frame_pitch,
                               a.batch.reference_samples};
  Sums* scratch = shared_at<Sums>(a.layout.sums);
  Complex<Real>* parts = shared_at<Complex<Real>>(a.layout.parts);
  Real power = 0;
  for (int g = 0; g < a.policy.groups; ++g) {
    const int first_lane = own_lane + g * a.policy.lanes_per_group;
    const int lanes = min(a.policy.lanes_per_group, plan.lanes - first_lane);
    const FusedTables<Real> tables(a, first_lane);
    if (g > 0) __syncthreads();
    if constexpr (Source<Real, T>::kLoadFirst) {
      gather_copy<Real>(a, source, first_lane, lanes);
    } else {
#define SFFT_GATHER(R) gather_pass<R, Real>(a, source, first_lane, lanes);
      SFFT_RADIX_SWITCH(plan.fft.pass[0].radix, SFFT_GATHER,
                        (gather_copy<Real>(a, source, first_lane, lanes));)
#undef SFFT_GATHER
    }
    __pipeline_wait_prior(0);
    later_passes<Real>(tables.passes, plan.fft.passes, plan.fft.points,
                       tables.later - plan.fft.first_twiddles, a.layout.buffer0, a.layout.buffer1, lanes,
                       a.layout.pitch);
    power += tail_power<Real>(a, tables, lanes);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (cluster > 1) return finish_cluster<kReal, Real>(a, tables, rank, frame, lanes, power);
#endif
    if (g + 1 == a.policy.groups) {
      finish_frame<Real>(
          plan, tables.errors, a.batch, frame, power,
          [&](int i) {
            Complex<Real> z = row_sum<kReal, Real>(a, tables, lanes, i);
            if (g > 0) {
              z.re += parts[i].re;
              z.im += parts[i].im;
            }
            return z;
          },
          scratch);
      return;
    }
    // The rows are this thread's in every round, so that no barrier is needed.
    for (int i = threadIdx.x; i < plan.rows; i += blockDim.x) {
      Complex<Real> z = row_sum<kReal, Real>(a, tables, lanes, i);
      if (g > 0) {
        z.re += parts[i].re;
        z.im += parts[i].im;
      }
      parts[i] = z;
    }
  }
}

template <class Real>
std::size_t fused_shared_bytes(const Binning<Real>& plan, const FusedPolicy& policy) {
  return static_cast<std::size_t>(fused_layout(plan, policy).total);
}

template <class Real>
void launch_fused(const Binning<Real>& plan, const FusedPolicy& policy, const Batch<Real>& batch,
                  Stream stream) {
  FusedArguments<Real> arguments{batch,
                                 policy,
                                 fused_layout(plan, policy),
                                 FastDivisor(static_cast<std::uint32_t>(policy.lanes_per_group)),
                                 FastDivisor(1),
                                 plan};
  arguments.by_slice = FastDivisor(static_cast<std::uint32_t>(arguments.layout.slice));
  const auto start = [&](auto kernel) {
    LaunchShape shape;
    shape.blocks = static_cast<std::int64_t>(batch.count) * policy.cluster;
    shape.threads = policy.threads;
    shape.cluster = policy.cluster;
    shape.shared_bytes = static_cast<std::size_t>(arguments.layout.total);
    shape.overlap = policy.overlap;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, arguments.layout.total),
          "reserving shared memory for the fused kernel");
    if (policy.cluster > kPortableCluster)
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
            "asking for a large cluster");
    launch(kernel, shape, arguments, stream, "launching the fused kernel");
  };
  with_element(batch.type, [&](auto element) {
    using T = decltype(element);
    if (plan.flat()) {
      start(fused_kernel<Real, T, FlatSource>);
    } else {
      start(fused_kernel<Real, T, CombSource>);
    }
  });
}

}  // namespace sfft::detail::cuda
