// SPDX-License-Identifier: Apache-2.0
// Lays out a block's shared memory.
#pragma once

#include <algorithm>

#include "kernels/cuda/fused/fused_arguments.hpp"
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

}  // namespace sfft::detail::cuda
