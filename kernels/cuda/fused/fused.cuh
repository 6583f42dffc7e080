// SPDX-License-Identifier: Apache-2.0
// The build's fused kernels and their launch. Each precision is instantiated in its own file.
#pragma once

#include <algorithm>

#include "kernels/cuda/fused/fused.hpp"
#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/fused/fused_kernel.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/runtime/probe.hpp"
#include "kernels/cuda/small_fft/block_fft.cuh"
#include "kernels/cuda/stages/finish.cuh"

namespace sfft::detail::cuda {

/// The number of coefficients that keeps a warp busy.
constexpr int kWorthSegment = 32;

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
  layout.sums = take(static_cast<std::int64_t>(policy.cluster) * (policy.threads / 32) * sizeof(Sums));
  layout.slice = ((plan.rows + policy.cluster - 1) / policy.cluster + 1) / 2 * 2;
  const bool parts = policy.cluster > 1 || policy.groups > 1;
  layout.parts = take(parts ? element * layout.slice * policy.cluster : 0);
  layout.finish = take(sizeof(FinishMemory<Real>));
  layout.buffer0 = take(element * layout.pitch * policy.lanes_per_group);
  layout.buffer1 =
      plan.fft.passes > 1 ? take(element * layout.pitch * policy.lanes_per_group) : layout.buffer0;
  const int own_lanes = policy.lanes_per_group * plan.lane_bytes;
  layout.head_bytes =
      plan.lanes_at + own_lanes <= policy.copied && policy.groups == 1 ? plan.lanes_at : plan.bucket_at;
  layout.lanes_bytes = layout.head_bytes == plan.lanes_at ? own_lanes : 0;
  layout.head = take(layout.head_bytes);
  layout.lanes = take(layout.lanes_bytes);
  if (plan.witness.count > 0) {
    const int columns = policy.cluster > 1 ? layout.slice : plan.k;
    const WarpShares warps = share_warps(policy, layout.slice);
    layout.segments = std::max(1, std::min({warps.predictors() / kWitnessChunks, columns / kWorthSegment,
                                            kMaxCluster / policy.cluster}));
    layout.predicted = take(std::int64_t{layout.segments} * policy.cluster * kWitnessReals * sizeof(Real));
    // The coefficients may reuse the buffer that the last pass read.
    const bool room = plan.fft.passes > 1 && policy.lanes_per_group * layout.pitch >= plan.k;
    layout.differences = parts  ? layout.parts
                         : room ? (plan.fft.passes % 2 == 1 ? layout.buffer1 : layout.buffer0)
                                : take(element * plan.k);
    const std::int64_t rows =
        element * (policy.cluster > 1 ? columns : plan.witness.pitch) * plan.witness.count;
    if (policy.groups == 1 && rows <= policy.copied_witness &&
        rows + layout.head_bytes + layout.lanes_bytes <= policy.copied) {
      layout.witness_bytes = static_cast<int>(rows);
      layout.witness = take(rows);
    }
  }
  layout.total = static_cast<int>(std::min<std::int64_t>(at, std::int64_t{1} << 30));
  return layout;
}

/// If a frame is spread, half as many threads run, so each may use twice the registers. One-lane code is
/// short: a single frame executes hardly any instruction more than once.
template <class Real, class T, template <class, class> class Source, bool kSpread>
__global__ void __launch_bounds__(kSpread ? kSpreadThreads<Real> : kMaxFusedThreads<Real>, 1)
    fused_kernel(const __grid_constant__ FusedArguments<Real> a) {
  transform_frame<Real, T, Source, kSpread, false>(a, a);
}

template <class Real>
std::size_t fused_shared_bytes(const Binning<Real>& plan, const FusedPolicy& policy) {
  return static_cast<std::size_t>(fused_layout(plan, policy).total);
}

template <class Real>
FusedArguments<Real> fused_arguments(const Binning<Real>& plan, const FusedPolicy& policy,
                                     const Batch<Real>& batch) {
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
  return arguments;
}

namespace {

template <class Real>
LaunchShape prepared_shape(void (*kernel)(FusedArguments<Real>), const FusedArguments<Real>& arguments) {
  const FusedPolicy& policy = arguments.policy;
  LaunchShape shape;
  shape.blocks = static_cast<std::int64_t>(arguments.batch.count) * policy.cluster;
  shape.threads = policy.threads;
  shape.cluster = policy.cluster;
  shape.shared_bytes = static_cast<std::size_t>(arguments.layout.total);
  shape.overlap = policy.overlap;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, arguments.layout.total),
        "reserving shared memory for the fused kernel");
  if (policy.cluster > kPortableCluster)
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
          "asking for a large cluster");
  return shape;
}

}  // namespace

template <class Real>
int fused_clusters_at_once(const Binning<Real>& plan, const FusedPolicy& policy) {
  Batch<Real> one;
  one.count = 1;
  const FusedArguments<Real> arguments = fused_arguments(plan, policy, one);
  const auto count = [&](auto kernel) {
    return clusters_at_once(kernel, prepared_shape(kernel, arguments),
                            "asking for clusters of the fused kernel");
  };
  // Kernels for other element types use about as many registers.
  const auto of_type = [&](auto element) {
    using T = decltype(element);
    return is_spread(arguments) ? count(fused_kernel<Real, T, CombSource, true>)
                                : count(fused_kernel<Real, T, CombSource, false>);
  };
  return plan.real ? of_type(Real{}) : of_type(Complex<Real>{});
}

template <class Real>
void launch_fused(const FusedArguments<Real>& arguments, Stream stream) {
  const auto start = [&](auto kernel) {
    launch(kernel, prepared_shape(kernel, arguments), arguments, stream, "launching the fused kernel");
  };
  with_element(arguments.batch.type, [&](auto element) {
    using T = decltype(element);
    if (arguments.plan.flat()) {
      start(fused_kernel<Real, T, FlatSource, false>);
    } else if (is_spread(arguments)) {
      start(fused_kernel<Real, T, CombSource, true>);
    } else {
      start(fused_kernel<Real, T, CombSource, false>);
    }
  });
}

}  // namespace sfft::detail::cuda
