// SPDX-License-Identifier: Apache-2.0
// Parameters of the fused kernel: the plan, how blocks share its work, and the
// layout of a block's shared memory. Plain data for host code, kernels and generated
// kernels (generated_kernel.hpp).
#pragma once

#include "kernels/cuda/stages/binning.hpp"

namespace sfft::detail::cuda {

/// Tunable parameters of the fused kernel.
struct FusedPolicy {
  int cluster = 1;          ///< blocks per frame; more than one only for combs, and then with one group each
  int groups = 1;           ///< rounds that a block does one after the other
  int lanes_per_group = 1;  ///< transformed together; cluster · groups · lanes_per_group >= lanes
  int threads = 256;        ///< a multiple of 32, at most kMaxFusedThreads<Real>; in a cluster at least 64
  bool overlap =
      false;  ///< whether to start before the stream's previous kernel ends; needs compute capability 9.0
  /// The maximum number of table bytes, including the witness's rows, that a block prefetches to shared
  /// memory. Prefetching hides latency but takes room from other blocks. If the tables are larger, a block
  /// copies only what every pass needs.
  int copied = 48 << 10;
  int copied_witness = 16 << 10;
};
/// The maximum number of threads per block that register use allows.
template <class Real>
constexpr int kMaxFusedThreads = sizeof(Real) == 4 ? 1024 : 512;
/// The maximum for frames that is_spread() accepts.
template <class Real>
constexpr int kSpreadThreads = kMaxFusedThreads<Real> / 2;

/// Offsets in a block's shared memory, in bytes.
struct FusedLayout {
  int pitch;        ///< elements from one lane to the next
  int sums;         ///< Sums of each warp of the cluster
  int parts;        ///< cluster: sums of this block's rows from every block; groups: sums of every row
  int finish;       ///< FinishMemory
  int differences;  ///< the coefficients that this block finishes, for the witness
  int predicted;    ///< the witness prediction of each block of a cluster and each segment
  int segments;     ///< parts of a block's coefficients, which its warps process in parallel
  int buffer0, buffer1;
  int head, head_bytes;    ///< the part of the blob's first sections that is copied
  int lanes, lanes_bytes;  ///< the blob's sections for this block's lanes, if copied
  int witness,
      witness_bytes;  ///< the columns of the witness's rows for this block's coefficients, if copied
  int slice;          ///< rows that one block of a cluster finishes; even, so that slices are 16-byte aligned
  int total;
};

template <class Real>
struct FusedArguments {
  Batch<Real> batch;
  FusedPolicy policy;
  FusedLayout layout;
  FastDivisor by_lanes, by_slice, by_pieces;  ///< the last one divides by the 16-byte pieces of a slice
  Binning<Real> plan;
};

/// How the warps of a block divide the work at the end of a frame. In a cluster, the first `finishing` warps
/// finish rows and leave other work to the rest, if they suffice.
struct WarpShares {
  int all, finishing;
  SFFT_HOST_DEVICE int first_of_tail() const { return finishing < all ? finishing : 0; }
  SFFT_HOST_DEVICE int first_predictor() const { return all - finishing >= kWitnessChunks ? finishing : 0; }
  SFFT_HOST_DEVICE int predictors() const { return all - first_predictor(); }
};

SFFT_HOST_DEVICE WarpShares share_warps(const FusedPolicy& policy, int slice) {
  const int all = policy.threads / 32, busy = (slice + 31) / 32;
  return {all, policy.cluster == 1 || all < busy ? all : busy};
}

/// Whether every block of a cluster has one lane of a comb and copies all tables.
template <class Real>
bool is_spread(const FusedArguments<Real>& a) {
  return a.policy.cluster > 1 && a.policy.lanes_per_group == 1 && a.plan.row_buckets == 1 && !a.plan.flat() &&
         a.policy.threads <= kSpreadThreads<Real> && a.layout.lanes_bytes > 0 &&
         (a.layout.witness_bytes > 0 || a.plan.witness.count == 0);
}

}  // namespace sfft::detail::cuda
