// SPDX-License-Identifier: Apache-2.0
// The whole transform in one launch: gather → small FFT → recover, in shared memory.
//
// A frame is processed by one block, or by a cluster of blocks (compute capability 9.0) that share its lanes
// and add up their parts through distributed shared memory.
#pragma once

#include <cstddef>

#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Bytes of shared memory per block under a policy.
template <class Real>
std::size_t fused_shared_bytes(const Binning<Real>& plan, const FusedPolicy& policy);

/// Clusters that can run at once on the current device, under a policy that uses them.
template <class Real>
int fused_clusters_at_once(const Binning<Real>& plan, const FusedPolicy& policy);

template <class Real>
FusedArguments<Real> fused_arguments(const Binning<Real>& plan, const FusedPolicy& policy,
                                     const Batch<Real>& batch);

/// Launches the kernel. Stream-ordered; allocates nothing; can be captured. fused_shared_bytes() must be
/// within the device's limit.
template <class Real>
void launch_fused(const FusedArguments<Real>& arguments, Stream stream);

}  // namespace sfft::detail::cuda
