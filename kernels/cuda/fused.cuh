// The fused kernel and its launch; instantiated for one precision a file.
#pragma once

#include <cooperative_groups.h>

#include "kernels/cuda/block_fft.cuh"
#include "kernels/cuda/finish.cuh"
#include "kernels/cuda/fused.hpp"
#include "kernels/cuda/gather.cuh"

namespace sfft::detail::cuda {

/// Offsets in a block's shared memory, in bytes.
struct FusedLayout {
  int pitch;  ///< elements from lane to lane
  int power;  ///< of each warp of each block, in the first block of a cluster
  int scratch, parts, buffer0, buffer1, table, total;
};

template <class Real>
FusedLayout fused_layout(const Binning<Real>& plan, const FusedPolicy& policy) {
  FusedLayout layout{};
  const auto align = [](std::int64_t bytes) { return static_cast<int>((bytes + 15) / 16 * 16); };
  const std::int64_t element = sizeof(Complex<Real>);
  layout.pitch = lane_pitch<Real>(plan.fft.points, policy.lanes_per_group);
  layout.power = 0;
  layout.scratch = align(kMaxCluster * kMaxFusedThreads / 32 * static_cast<std::int64_t>(sizeof(double)));
  layout.parts = layout.scratch + align(sizeof(FinishScratch));
  layout.buffer0 = align(layout.parts + element * plan.rows * policy.cluster);
  layout.buffer1 = align(layout.buffer0 + element * layout.pitch * policy.lanes_per_group);
  const bool two = plan.fft.passes > 1;
  layout.table =
      two ? align(layout.buffer1 + element * layout.pitch * policy.lanes_per_group) : layout.buffer1;
  layout.total = align(layout.table + element * (plan.fft.table_size - plan.fft.first_twiddles));
  return layout;
}

template <class Real>
struct FusedArguments {
  Binning<Real> plan;
  Batch<Real> batch;
  FusedPolicy policy;
  FusedLayout layout;
  FastDivisor by_lanes;
};

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
    Radix<R, Real>::run(
        pass, a.plan.table, p,
        [&](int j, Real& re, Real& im) {
          const Complex<Real> z = source.load(row, p + j * pass.columns);
          re = z.re;
          im = z.im;
        },
        [&](int r, Real re, Real im) {
          out[padded<Real>(first + r)] = {re, im};
          sink(first + r, re, im);
        });
  }
}

/// The rows' sums over the lanes of one group, into this block's parts.
template <bool kReal, class Real>
__device__ __forceinline__ void recover_pass(const FusedArguments<Real>& a, int first_lane, int lanes,
                                             Complex<Real>* parts, bool add) {
  const Binning<Real>& plan = a.plan;
  const int result = plan.fft.passes % 2 == 1 ? a.layout.buffer0 : a.layout.buffer1;
  const Complex<Real>* z = shared_at<Complex<Real>>(result);
  for (int i = threadIdx.x; i < plan.rows; i += blockDim.x) {
    Complex<Real> sum{0, 0};
    if (add) sum = parts[i];
    for (int q = 0; q < plan.row_buckets; ++q) {
      const BucketPair pair = plan.bucket[q * plan.rows + i];
      const int at = padded<Real>(pair.at), mirror = padded<Real>(pair.mirror);
      std::int64_t weight = (static_cast<std::int64_t>(first_lane) * plan.row_buckets + q) * plan.rows + i;
#pragma unroll 4
      for (int l = 0; l < lanes; ++l, weight += static_cast<std::int64_t>(plan.row_buckets) * plan.rows) {
        const Complex<Real> w = plan.alpha[weight];
        const Complex<Real> y = z[l * a.layout.pitch + at];
        sum.re += w.re * y.re - w.im * y.im;
        sum.im += w.re * y.im + w.im * y.re;
        if constexpr (kReal) {
          const Complex<Real> v = plan.beta[weight];
          const Complex<Real> c = z[l * a.layout.pitch + mirror];
          sum.re += v.re * c.re + v.im * c.im;
          sum.im += v.im * c.re - v.re * c.im;
        }
      }
    }
    parts[i] = sum;
  }
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define SFFT_CLUSTERS 1
#else
#define SFFT_CLUSTERS 0
#endif

template <class Real, class T, template <class, class> class Source>
__global__ void __launch_bounds__(kMaxFusedThreads)
    fused_kernel(const __grid_constant__ FusedArguments<Real> a) {
  constexpr bool kReal = !IsComplex<T>::value;
  const Binning<Real>& plan = a.plan;
  const int cluster = a.policy.cluster;
  const int rank = static_cast<int>(blockIdx.x) % cluster;
  const std::int64_t frame = blockIdx.x / cluster;
#if SFFT_CLUSTERS
  // The first block's memory may be written once it has started: waited for just before that.
  if (cluster > 1) asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
  // The tables of the later passes, while the samples are on their way.
  Complex<Real>* table = shared_at<Complex<Real>>(a.layout.table);
  const int rest = plan.fft.table_size - plan.fft.first_twiddles;
  for (int i = threadIdx.x; i < rest; i += blockDim.x) table[i] = plan.table[plan.fft.first_twiddles + i];

  const Source<Real, T> source{plan, static_cast<const T*>(a.batch.frames) + frame * a.batch.frame_pitch,
                               a.batch.reference_samples};
  Complex<Real>* parts = shared_at<Complex<Real>>(a.layout.parts);
#if SFFT_CLUSTERS
  const auto whole = cooperative_groups::this_cluster();
#endif
  Real power = 0;
  for (int g = 0; g < a.policy.groups; ++g) {
    const int first_lane = (rank * a.policy.groups + g) * a.policy.lanes_per_group;
    const int lanes = min(a.policy.lanes_per_group, plan.lanes - first_lane);
    if (lanes <= 0) break;
    if (g > 0) __syncthreads();
    const Real* weights = plan.fft.passes == 1 ? plan.power_weight : nullptr;
    const auto sink = [&](int at, Real re, Real im) {
      if (weights != nullptr) power += __ldg(weights + at) * (re * re + im * im);
    };
#define SFFT_GATHER(R) gather_pass<R, Real>(a, source, first_lane, lanes, sink);
    SFFT_RADIX_SWITCH(plan.fft.pass[0].radix, SFFT_GATHER,
                      (gather_pass<1, Real>(a, source, first_lane, lanes, sink));)
#undef SFFT_GATHER
    power += later_passes<Real>(plan.fft, table - plan.fft.first_twiddles, a.layout.buffer0, a.layout.buffer1,
                                lanes, a.layout.pitch, plan.power_weight);
    Complex<Real>* to = parts;
#if SFFT_CLUSTERS
    if (cluster > 1) {
      asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
      to = whole.map_shared_rank(parts, 0) + rank * plan.rows;
    }
#endif
    recover_pass<kReal, Real>(a, first_lane, lanes, to, g > 0);
  }
  FinishScratch& scratch = *shared_at<FinishScratch>(a.layout.scratch);
#if SFFT_CLUSTERS
  if (cluster > 1) {
    double* powers = shared_at<double>(a.layout.power);
    const int warps = static_cast<int>(blockDim.x) / 32;
    const double own = warp_sum(static_cast<double>(power));
    if (threadIdx.x % 32 == 0) whole.map_shared_rank(powers, 0)[rank * warps + threadIdx.x / 32] = own;
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    if (rank != 0) return;
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    const double all = static_cast<int>(threadIdx.x) < warps * cluster ? powers[threadIdx.x] : 0;
    const auto sum = [&](int i) {
      Complex<Real> z{0, 0};
      for (int c = 0; c < cluster; ++c) {
        z.re += parts[c * plan.rows + i].re;
        z.im += parts[c * plan.rows + i].im;
      }
      return z;
    };
    finish_frame<Real>(plan, a.batch, frame, all, sum, scratch);
    return;
  }
#endif
  __syncthreads();
  finish_frame<Real>(
      plan, a.batch, frame, power, [&](int i) { return parts[i]; }, scratch);
}

template <class Real>
std::size_t fused_shared_bytes(const Binning<Real>& plan, const FusedPolicy& policy) {
  return static_cast<std::size_t>(fused_layout(plan, policy).total);
}

template <class Real>
void launch_fused(const Binning<Real>& plan, const FusedPolicy& policy, const Batch<Real>& batch,
                  Stream stream) {
  FusedArguments<Real> arguments{plan, batch, policy, fused_layout(plan, policy),
                                 FastDivisor(static_cast<std::uint32_t>(policy.lanes_per_group))};
  const auto launch = [&](auto kernel) {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(batch.count * policy.cluster));
    config.blockDim = dim3(static_cast<unsigned>(policy.threads));
    config.dynamicSmemBytes = static_cast<std::size_t>(arguments.layout.total);
    config.stream = stream;
    cudaLaunchAttribute attribute{};
    if (policy.cluster > 1) {
      attribute.id = cudaLaunchAttributeClusterDimension;
      attribute.val.clusterDim.x = static_cast<unsigned>(policy.cluster);
      attribute.val.clusterDim.y = 1;
      attribute.val.clusterDim.z = 1;
      config.attrs = &attribute;
      config.numAttrs = 1;
    }
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, arguments.layout.total),
          "reserving shared memory for the fused kernel");
    check(cudaLaunchKernelEx(&config, kernel, arguments), "launching the fused kernel");
  };
  with_element(batch.type, [&](auto element) {
    using T = decltype(element);
    if (plan.flat()) {
      launch(fused_kernel<Real, T, FlatSource>);
    } else {
      launch(fused_kernel<Real, T, CombSource>);
    }
  });
}

}  // namespace sfft::detail::cuda
