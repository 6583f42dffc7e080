// SPDX-License-Identifier: Apache-2.0
// The build's fused kernels and their launch. Each precision is instantiated in its own file.
#pragma once

#include "kernels/cuda/fused/fused.hpp"
#include "kernels/cuda/fused/fused_kernel.cuh"
#include "kernels/cuda/fused/fused_layout.cuh"
#include "kernels/cuda/runtime/launch.cuh"
#include "kernels/cuda/runtime/probe.hpp"

namespace sfft::detail::cuda {

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
