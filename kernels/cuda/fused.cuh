// The fused kernel and its launch; instantiated for one precision a file.
#pragma once

#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <algorithm>

#include "kernels/cuda/block_fft.cuh"
#include "kernels/cuda/finish.cuh"
#include "kernels/cuda/fused.hpp"
#include "kernels/cuda/gather.cuh"
#include "kernels/cuda/launch.cuh"

namespace sfft::detail::cuda {

/// Offsets in a block's shared memory, in bytes.
struct FusedLayout {
  int pitch;   ///< elements from lane to lane
  int sums;    ///< of each warp
  int powers;  ///< of each block of a cluster
  int parts;   ///< of a cluster: the sums of this block's rows from every block; else of groups: of every row
  int buffer0, buffer1;
  int head, head_bytes;    ///< the blob's first sections, as far as they are copied
  int lanes, lanes_bytes;  ///< the blob's sections of this block's lanes, where they are copied
  int slice;               ///< rows that one block of a cluster finishes
  int total;
};

/// Everything that is copied ahead, if that fits beside the buffers; else what every pass needs.
constexpr int kMostCopied = 48 << 10;

template <class Real>
FusedLayout fused_layout(const Binning<Real>& plan, const FusedPolicy& policy) {
  FusedLayout layout{};
  std::int64_t at = 0;
  const auto take = [&](std::int64_t bytes) {
    const std::int64_t start = at;
    at += (bytes + 15) / 16 * 16;
    return static_cast<int>(start);
  };
  const std::int64_t element = sizeof(Complex<Real>);
  layout.pitch = lane_pitch<Real>(plan.fft.points, policy.lanes_per_group);
  layout.sums = take(32 * sizeof(Sums));
  layout.powers = take(kMaxCluster * sizeof(Sums));
  layout.slice = (plan.rows + policy.cluster - 1) / policy.cluster;
  const bool parts = policy.cluster > 1 || policy.groups > 1;
  layout.parts = take(parts ? element * layout.slice * policy.cluster : 0);
  layout.buffer0 = take(element * layout.pitch * policy.lanes_per_group);
  layout.buffer1 =
      plan.fft.passes > 1 ? take(element * layout.pitch * policy.lanes_per_group) : layout.buffer0;
  const int own_lanes = policy.lanes_per_group * plan.lane_bytes;
  layout.head_bytes =
      plan.lanes_at + own_lanes <= kMostCopied && policy.groups == 1 ? plan.lanes_at : plan.bucket_at;
  layout.lanes_bytes = layout.head_bytes == plan.lanes_at ? own_lanes : 0;
  layout.head = take(layout.head_bytes);
  layout.lanes = take(layout.lanes_bytes);
  layout.total = static_cast<int>(std::min<std::int64_t>(at, std::int64_t{1} << 30));
  return layout;
}

template <class Real>
struct FusedArguments {
  Batch<Real> batch;
  FusedPolicy policy;
  FusedLayout layout;
  FastDivisor by_lanes, by_slice;
  Binning<Real> plan;
};

/// Global to shared memory, 16 bytes a thread, without waiting.
__device__ __forceinline__ void copy_ahead(int to, const unsigned char* from, int bytes) {
  for (int i = static_cast<int>(threadIdx.x) * 16; i < bytes; i += static_cast<int>(blockDim.x) * 16)
    __pipeline_memcpy_async(shared_bytes + to + i, from + i, 16);
}

/// The gather and the first pass, lanes side by side so that delays that share a cache line share its load.
template <int R, class Real, class Source, class Sink>
__device__ __forceinline__ void gather_pass(const FusedArguments<Real>& a, const Source& source,
                                            int first_lane, int lanes, const Sink& sink) {
  const FftSchedule& fft = a.plan.fft;
  const FftPass& pass = fft.pass[0];
  const int side = a.policy.lanes_per_group;
  const int butterflies = fft.points / R;
  for (int t = threadIdx.x; t < side * butterflies; t += blockDim.x) {
    const int u = static_cast<int>(a.by_lanes.divide(t));
    const int lane = t - u * side;
    if (lane >= lanes) continue;
    const int outer = static_cast<int>(pass.by_columns.divide(u));
    const int p = u - outer * pass.columns;
    const auto row = source.row(first_lane + lane, outer);
    Complex<Real>* out = shared_at<Complex<Real>>(a.layout.buffer0) + lane * a.layout.pitch;
    const int first = outer * pass.columns * R + p * R;
    Complex<Real> z[R];
#pragma unroll
    for (int j = 0; j < R; ++j) z[j] = source.fetch(row, p + j * pass.columns);
#pragma unroll
    for (int j = 0; j < R; ++j) source.settle(row, p + j * pass.columns, z[j]);
    Radix<R, Real>::template run<true>(
        pass, a.plan.table, p,
        [&](int j, Real& re, Real& im) {
          re = z[j].re;
          im = z[j].im;
        },
        [&](int r, Real re, Real im) {
          out[padded<Real>(first + r)] = {re, im};
          sink(first + r, re, im);
        });
  }
}

/// The gather alone, for schedules that begin with a pass of radix 1: a few samples a thread under way at
/// once.
template <class Real, class Source, class Sink>
__device__ __forceinline__ void gather_copy(const FusedArguments<Real>& a, const Source& source,
                                            int first_lane, int lanes, const Sink& sink) {
  constexpr int kAhead = 4;
  const int side = a.policy.lanes_per_group;
  const int total = side * a.plan.fft.points;
  const FftPass& pass = a.plan.fft.pass[0];
  for (int start = threadIdx.x; start < total; start += kAhead * blockDim.x) {
    Complex<Real> z[kAhead];
    int lane[kAhead] = {}, point[kAhead] = {};
    const auto visit = [&](int j, const auto& use) {
      if (lane[j] >= lanes) return;
      const int outer = static_cast<int>(pass.by_columns.divide(point[j]));
      use(source.row(first_lane + lane[j], outer), point[j] - outer * pass.columns);
    };
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      const int t = start + j * static_cast<int>(blockDim.x);
      point[j] = static_cast<int>(a.by_lanes.divide(t));
      lane[j] = t < total ? t - point[j] * side : lanes;
      visit(j, [&](const auto& row, int i) { z[j] = source.fetch(row, i); });
    }
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      visit(j, [&](const auto& row, int i) {
        source.settle(row, i, z[j]);
        shared_at<Complex<Real>>(a.layout.buffer0)[lane[j] * a.layout.pitch + padded<Real>(point[j])] = z[j];
        sink(point[j], z[j].re, z[j].im);
      });
    }
  }
}

/// The plan's tables where this block reads them: in shared memory as far as they were copied.
template <class Real>
struct FusedTables {
  const FftPass* passes;
  const Complex<Real>* later;
  const BucketPair* bucket;
  const unsigned char* lanes;  ///< of the block's first lane
  ErrorTables<Real> errors;

  __device__ __forceinline__ FusedTables(const FusedArguments<Real>& a, int first_lane) {
    const Binning<Real>& plan = a.plan;
    const unsigned char* head = shared_bytes + a.layout.head;
    passes = reinterpret_cast<const FftPass*>(head + plan.passes_at);
    later = reinterpret_cast<const Complex<Real>*>(head + plan.table_at);
    const unsigned char* rows = a.layout.lanes_bytes > 0 ? head : plan.blob;
    bucket = reinterpret_cast<const BucketPair*>(rows + plan.bucket_at);
    errors = {reinterpret_cast<const Real*>(rows + plan.gain_at),
              reinterpret_cast<const Real*>(rows + plan.bias_at), rows + plan.flags_at};
    lanes = a.layout.lanes_bytes > 0 ? shared_bytes + a.layout.lanes
                                     : plan.alpha + static_cast<std::int64_t>(first_lane) * plan.lane_bytes;
  }
};

/// Row i over the lanes of one group.
template <bool kReal, class Real>
__device__ __forceinline__ Complex<Real> row_sum(const FusedArguments<Real>& a,
                                                 const FusedTables<Real>& tables, int lanes, int i) {
  const Binning<Real>& plan = a.plan;
  const Complex<Real>* z =
      shared_at<Complex<Real>>(plan.fft.passes % 2 == 1 ? a.layout.buffer0 : a.layout.buffer1);
  Complex<Real> sum{0, 0};
  for (int q = 0; q < plan.row_buckets; ++q) {
    const BucketPair pair = tables.bucket[q * plan.rows + i];
    const int at = padded<Real>(pair.at), mirror = padded<Real>(pair.mirror);
    const unsigned char* weights =
        tables.lanes + (q * plan.rows + i) * static_cast<int>(sizeof(Complex<Real>));
#pragma unroll 2
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
  Sums* powers = shared_at<Sums>(a.layout.powers);
  Complex<Real>* parts = shared_at<Complex<Real>>(a.layout.parts);
  Sums own;
  own.power = static_cast<double>(power);
  own.over_block(scratch);
  // Every block has started: its memory may be written.
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
  for (int i = threadIdx.x; i < plan.rows; i += blockDim.x) {
    const Complex<Real> z = row_sum<kReal>(a, tables, lanes, i);
    const int to = static_cast<int>(a.by_slice.divide(i));
    whole.map_shared_rank(parts, to)[rank * slice + i - to * slice] = z;
  }
  if (static_cast<int>(threadIdx.x) < cluster) whole.map_shared_rank(powers, threadIdx.x)[rank] = own;
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  double scale = 0;
  for (int c = 0; c < cluster; ++c) scale += powers[c].power;
  scale *= plan.power_unit;
  const int first = rank * slice;
  const int last = min(first + slice, plan.k);
  Sums sums;
  for (int i = first + threadIdx.x; i < last; i += blockDim.x) {
    Complex<Real> z{0, 0};
    for (int c = 0; c < cluster; ++c) {
      z.re += parts[c * slice + i - first].re;
      z.im += parts[c * slice + i - first].im;
    }
    finish_row(plan.k, tables.errors, a.batch, frame, i, z, sums);
    write_error(plan.k, tables.errors, a.batch, frame, i, scale);
  }
  __syncthreads();
  sums.over_block(scratch);
  if (threadIdx.x == 0) {
    Sums* to = whole.map_shared_rank(powers, 0) + rank;
    to->norm = sums.norm;
    to->held = sums.held;
  }
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
  if (rank != 0) return;
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
  Sums all;
  for (int c = 0; c < cluster; ++c) {
    all.norm += powers[c].norm;
    all.held += powers[c].held;
  }
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
  await_previous_kernel();

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
    const Real* weights = plan.fft.passes == 1 ? plan.power_weight : nullptr;
    const auto sink = [&](int at, Real re, Real im) {
      if (weights != nullptr) power += __ldg(weights + at) * (re * re + im * im);
    };
#define SFFT_GATHER(R) gather_pass<R, Real>(a, source, first_lane, lanes, sink);
    SFFT_RADIX_SWITCH(plan.fft.pass[0].radix, SFFT_GATHER,
                      (gather_copy<Real>(a, source, first_lane, lanes, sink));)
#undef SFFT_GATHER
    __pipeline_wait_prior(0);
    power += later_passes<Real>(tables.passes, plan.fft.passes, plan.fft.points,
                                tables.later - plan.fft.first_twiddles, a.layout.buffer0, a.layout.buffer1,
                                lanes, a.layout.pitch, plan.power_weight);
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
