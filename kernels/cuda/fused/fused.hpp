// SPDX-License-Identifier: Apache-2.0
// The whole transform in one launch: gather → small FFT → recover, in shared memory.
//
// One block works on a frame, or a cluster of blocks (compute capability 9.0) that share its lanes and add up
// their parts through distributed shared memory.
#pragma once

#include <cstddef>

#include "kernels/cuda/runtime/runtime.hpp"
#include "kernels/cuda/stages/binning.hpp"

namespace sfft::detail::cuda {

/// What can be tuned about the fused kernel.
struct FusedPolicy {
  int cluster = 1;          ///< blocks per frame; more than one only for combs, with one group each
  int groups = 1;           ///< rounds of a block, one after the other
  int lanes_per_group = 1;  ///< transformed side by side; cluster · groups · lanes_per_group >= lanes
  int threads = 256;        ///< a multiple of 32, at most kMaxFusedThreads<Real>; in a cluster at least 64
  bool overlap = false;     ///< begin beside the stream's previous kernel; compute capability 9.0
  /// Bytes of tables that a block copies to shared memory before it needs them, at most, and of the witness's
  /// rows among them. Copies hide latency, and take room from other blocks. If the tables are larger, only
  /// what every pass needs is copied.
  int copied = 48 << 10;
  int copied_witness = 16 << 10;
};
/// The most threads per block that registers allow.
template <class Real>
constexpr int kMaxFusedThreads = sizeof(Real) == 4 ? 1024 : 512;

/// Bytes of shared memory a block needs under a policy.
template <class Real>
std::size_t fused_shared_bytes(const Binning<Real>& plan, const FusedPolicy& policy);

/// Launches; stream-ordered, allocates nothing, can be captured. fused_shared_bytes() must be within the
/// device's limit.
template <class Real>
void launch_fused(const Binning<Real>& plan, const FusedPolicy& policy, const Batch<Real>& batch,
                  Stream stream);

}  // namespace sfft::detail::cuda
