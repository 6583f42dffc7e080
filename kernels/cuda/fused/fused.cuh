// SPDX-License-Identifier: Apache-2.0
// The fused kernel, which does every stage of a sparse plan, and its launch. Each precision is instantiated
// in its own file.
#pragma once

#include "kernels/cuda/fused/fused_gather.cuh"
#include "kernels/cuda/fused/fused_recover.cuh"
#include "kernels/cuda/runtime/probe.hpp"

namespace sfft::detail::cuda {

/// kSpread: see is_spread(). Half the threads have twice the registers, and code for one lane is short: a
/// frame by itself runs every instruction hardly more than once.
template <class Real, class T, template <class, class> class Source, bool kSpread>
__global__ void __launch_bounds__(kSpread ? kMaxFusedThreads<Real> / 2 : kMaxFusedThreads<Real>)
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
  copy_witness(a, rank * a.layout.slice, plan.k - rank * a.layout.slice);

  const Source<Real, T> source{plan, static_cast<const T*>(a.batch.frames) + frame * a.batch.frame_pitch,
                               a.batch.reference_samples};
  WitnessReader<Real, T> reader(plan);
  FinishMemory<Real>* memory = shared_at<FinishMemory<Real>>(a.layout.finish);
  const auto begin = [&](int group) {
    if (group > 0) return;
    reader.load(plan, source.frame);
    if (a.batch.reference_witness != nullptr && reader.reads(plan))
      __pipeline_memcpy_async(memory->reference + threadIdx.x, a.batch.reference_witness + threadIdx.x,
                              sizeof(Real));
    __pipeline_commit();
  };
  Complex<Real>* parts = shared_at<Complex<Real>>(a.layout.parts);
  Real power = 0;
  for (int g = 0; g < a.policy.groups; ++g) {
    const int first_lane = own_lane + g * a.policy.lanes_per_group;
    const int lanes = min(a.policy.lanes_per_group, plan.lanes - first_lane);
    const FusedTables<Real, kSpread> tables(a, first_lane);
    if (!kSpread && g > 0) __syncthreads();
    if constexpr (Source<Real, T>::kLoadFirst) {
      gather_copy<Real>(a, source, first_lane, lanes, [&] { begin(g); });
    } else {
#define SFFT_GATHER(R) gather_pass<R, kSpread, Real>(a, source, first_lane, lanes, [&] { begin(g); });
      SFFT_RADIX_SWITCH(plan.fft.pass[0].radix, SFFT_GATHER,
                        (gather_copy<Real>(a, source, first_lane, lanes, [&] { begin(g); }));)
#undef SFFT_GATHER
    }
    if (g == 0) reader.store(plan, memory->samples);
    __pipeline_wait_prior(0);
    const Complex<Real>* later = tables.later - plan.fft.first_twiddles;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if constexpr (kSpread) {
      run_later_passes<true>(tables.passes, plan.fft.passes, plan.fft.points, later, a.layout.buffer0,
                             a.layout.buffer1, 1, a.layout.pitch);
      return finish_cluster<kReal, true>(a, rank, frame, 1);
    }
#endif
    later_passes(tables.passes, plan.fft.passes, plan.fft.points, later, a.layout.buffer0, a.layout.buffer1,
                 lanes, a.layout.pitch);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (cluster > 1) return finish_cluster<kReal, false>(a, rank, frame, lanes);
#endif
    power += tail_power(a, tables, lanes, static_cast<int>(threadIdx.x), static_cast<int>(blockDim.x));
    if (g + 1 == a.policy.groups) {
      finish_frame<kReal, Real>(
          plan, tables.errors, a.batch, frame, power,
          [&](int i) {
            Complex<Real> z = row_sum<kReal>(a, tables, lanes, i);
            if (g > 0) {
              z.re += parts[i].re;
              z.im += parts[i].im;
            }
            return z;
          },
          {shared_at<Sums>(a.layout.sums), memory, shared_at<Complex<Real>>(a.layout.differences),
           shared_at<Real>(a.layout.predicted), a.layout.segments, witness_rows<false>(a, 0)});
      return;
    }
    // A thread has the same rows in every round, so no barrier is needed.
    for (int i = threadIdx.x; i < plan.rows; i += blockDim.x) {
      Complex<Real> z = row_sum<kReal>(a, tables, lanes, i);
      if (g > 0) {
        z.re += parts[i].re;
        z.im += parts[i].im;
      }
      parts[i] = z;
    }
  }
}

/// Whether every block of a cluster has one lane of a comb, and copies all tables.
template <class Real>
bool is_spread(const Binning<Real>& plan, const FusedPolicy& policy, const FusedLayout& layout) {
  return policy.cluster > 1 && policy.lanes_per_group == 1 && plan.row_buckets == 1 && !plan.flat() &&
         policy.threads <= kMaxFusedThreads<Real> / 2 && layout.lanes_bytes > 0 &&
         (layout.witness_bytes > 0 || plan.witness.count == 0);
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
                                 FastDivisor(1),
                                 plan};
  const auto slice = static_cast<std::uint32_t>(arguments.layout.slice);
  arguments.by_slice = FastDivisor(slice);
  arguments.by_pieces = FastDivisor(slice / kPiece<Real>);
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
      start(fused_kernel<Real, T, FlatSource, false>);
    } else if (is_spread(plan, policy, arguments.layout)) {
      start(fused_kernel<Real, T, CombSource, true>);
    } else {
      start(fused_kernel<Real, T, CombSource, false>);
    }
  });
}

}  // namespace sfft::detail::cuda
