// SPDX-License-Identifier: Apache-2.0
// The whole transform in one launch: gather → small FFT → recover, in shared memory.
//
// One block processes a frame, or a cluster of blocks does (compute capability 9.0). The blocks of a cluster
// share the frame's lanes and add up their parts through distributed shared memory.
#pragma once

#include <cstddef>

#include "kernels/cuda/fused/fused_arguments.hpp"
#include "kernels/cuda/runtime/runtime.hpp"

namespace sfft::detail::cuda {

/// Bytes of shared memory per block that a policy needs.
template <class Real>
std::size_t fused_shared_bytes(const Binning<Real>& plan, const FusedPolicy& policy);

/// How many clusters can run at the same time on the current device, for a policy that uses clusters.
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
